"""The kernel of Java: runs cells in a JShell, in a Java process of its own (java/src/CellRunner.java).

What the process and its children write to standard output and error is the output of the cell that runs, or of the next one.
"""

import json
import os
import struct
import subprocess
import threading

from code_interpreter_output import PIECE_BYTES, Output
from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

JAVA_HOME = "/opt/code-interpreter/java"
# Less memory while it does nothing, and a start in half the time; code that runs for long is slower.
OPTIONS = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:MaxRAMPercentage=40",
    "-XX:-UsePerfData",
    f"-XX:SharedArchiveFile={JAVA_HOME}/cell-runner.jsa",
    "-Xlog:disable",
    "-Xlog:all=error:stderr",
    "-Dfile.encoding=UTF-8",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
)
# Debian's packages put their jars into this folder.
CLASS_PATH = f"{JAVA_HOME}/cell-runner.jar:/usr/share/java/*"
START_TIMEOUT_S = 50
SEND_TIMEOUT_S = 5
# A value has up to 8 MiB of characters.
MAX_ANSWER_BYTES = 64 * 1024 * 1024
# The server sets variables by a silent cell with this line, and their values as JSON; null removes one.
VARIABLES_LINE = "%variables "


class JavaEnded(Exception):
    """The Java process has ended."""


class JavaProcess:
    """The Java process: requests and answers go through two pipes, as frames of a kind and texts."""

    def __init__(self):
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        # The kernel of Linux ends it when this process ends, also in the middle of a cell.
        command = ["setpriv", "--pdeathsig", "KILL", "java", *OPTIONS, "-cp", CLASS_PATH, "CellRunner", str(requests), str(answers)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(requests, answers),
            # Names of files in UTF-8.
            env={"LC_ALL": "C.UTF-8", **os.environ},
            bufsize=0,
        )
        os.close(requests)
        os.close(answers)
        self._lock = threading.Lock()
        self._output = Output(self._process.stdout.fileno(), self._process.stderr.fileno())

    def wait_for_end(self):
        """Waits until the process has ended."""
        self._process.wait()

    def run(self, number, code):
        self._send(b"R" + struct.pack(">i", number) + _packed(code))

    def set_variables(self, variables):
        parts = [b"V" + struct.pack(">i", len(variables))]
        for name, value in variables.items():
            parts.append(_packed(name) + (b"\0" if value is None else b"\1" + _packed(value)))
        self._send(b"".join(parts))

    def interrupt(self):
        self._send(b"S")

    def wait(self, on_output, timeout_s=None):
        """Passes output on until there is an answer: its kind and its texts."""
        if not self._output.wait_for((self._answers,), on_output, timeout_s):
            raise JavaEnded("Java did not start in time")
        return self._read_answer()

    def _read_answer(self):
        kind, count = struct.unpack(">ci", self._read(5))
        left, texts = MAX_ANSWER_BYTES, []
        for _ in range(count):
            (length,) = struct.unpack(">i", self._read(4))
            left -= length
            if left < 0:
                raise JavaEnded("an answer of Java is too long")
            texts.append(self._read(length).decode("utf-8", "replace"))
        return kind, texts

    def _read(self, length):
        parts = []
        while length > 0:
            part = os.read(self._answers, min(length, PIECE_BYTES))
            if not part:
                raise JavaEnded("Java has ended")
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def _send(self, frame):
        with self._lock:
            try:
                while frame:
                    frame = frame[os.write(self._requests, frame) :]
            except BrokenPipeError:
                # The wait for the answer ends with the answer's pipe.
                pass


def _packed(text):
    data = text.encode("utf-8", "replace")
    return struct.pack(">i", len(data)) + data


class JavaKernel(Kernel):
    implementation = "code_interpreter_java"
    implementation_version = "1"
    banner = "Java"
    language_info = {"name": "java", "mimetype": "text/x-java-source", "file_extension": ".jshell"}

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        # It starts while the kernel answers its first requests.
        self._java = JavaProcess()
        self._is_ready = False
        self._is_busy = False
        threading.Thread(target=self._end_with_java, daemon=True).start()

    async def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False, **_):
        def on_output(name, text):
            self.send_response(self.iopub_socket, "stream", {"name": name, "text": text})

        self._is_busy = True
        try:
            if not self._is_ready:
                self._java.wait(on_output, START_TIMEOUT_S)
                self._is_ready = True
            if silent and code.startswith(VARIABLES_LINE):
                self._java.set_variables(json.loads(code[len(VARIABLES_LINE) :]))
            else:
                self._java.run(self.execution_count, code)
            kind, texts = self._java.wait(on_output)
        except JavaEnded as err:
            self.log.error("%s", err)
            self._end()
        finally:
            self._is_busy = False
        if kind == b"f":
            name, value, *traceback = texts
            error = {"ename": name, "evalue": value, "traceback": traceback}
            self.send_response(self.iopub_socket, "error", error)
            return {"status": "error", "execution_count": self.execution_count, **error}
        if texts and not silent:
            result = {"execution_count": self.execution_count, "data": {"text/plain": texts[0]}, "metadata": {}}
            self.send_response(self.iopub_socket, "execute_result", result)
        return {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": {}}

    async def interrupt_request(self, stream, ident, parent):
        """Comes while a cell runs, in the thread of the control channel."""
        self._java.interrupt()
        self.session.send(stream, "interrupt_reply", {"status": "ok"}, parent, ident=ident)

    def _end_with_java(self):
        self._java.wait_for_end()
        # Otherwise the cell ends the kernel, when it has passed on what Java wrote.
        if not self._is_busy:
            self._end()

    def _end(self):
        """The Jupyter server starts the kernel again."""
        sent = threading.Event()
        self.iopub_thread.schedule(sent.set)
        sent.wait(SEND_TIMEOUT_S)
        os._exit(1)


if __name__ == "__main__":
    IPKernelApp.launch_instance(kernel_class=JavaKernel)
