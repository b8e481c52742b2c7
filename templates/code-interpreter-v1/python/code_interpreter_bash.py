"""The kernel of Bash: runs cells in an interactive Bash without a terminal.

Bash reads two commands for each cell from a pipe: one runs the code, which is a file in memory, and one tells the status. The second runs also
when an interrupt or an error has thrown Bash out of the first. The standard input of cells is empty.
"""

import contextlib
import fcntl
import json
import os
import re
import shlex
import signal
import subprocess

from code_interpreter_output import Output
from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

# Scripts number descriptors of their own from 3 on.
FIRST_DESCRIPTOR = 100
# An interrupt that comes after the code takes the command that tells the status with it.
ASK_AGAIN_S = 1
MAX_READ_BYTES = 4096
# The server sets variables by a silent cell with this line, and their values as JSON; null removes one.
VARIABLES_LINE = "%variables "
SHELL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class BashProcess:
    """A running Bash."""

    def __init__(self, variables):
        """Starts it with the variables of this process and these."""
        commands, self._commands = os.pipe()
        stdout, stdout_of_cells = os.pipe()
        stderr, stderr_of_cells = (_beyond_scripts(descriptor) for descriptor in os.pipe())
        self._statuses, statuses = (_beyond_scripts(descriptor) for descriptor in os.pipe())
        self._code = _beyond_scripts(os.memfd_create("cell"))
        # Bash sets the state of its terminal after a process was ended by a signal, and complains when there is none.
        terminal, terminal_of_bash = os.openpty()
        # This process ignores interrupts, and Bash would inherit that.
        handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            self._process = subprocess.Popen(
                # The kernel of Linux ends it when this process ends.
                ["setpriv", "--pdeathsig", "KILL", "bash", "-i"],
                stdin=commands,
                stdout=stdout_of_cells,
                stderr=terminal_of_bash,
                pass_fds=(self._code, statuses, stderr_of_cells),
                start_new_session=True,
                env={**os.environ, **variables},
            )
        finally:
            signal.signal(signal.SIGINT, handler)
        for descriptor in (commands, stdout_of_cells, stderr_of_cells, statuses, terminal_of_bash):
            os.close(descriptor)
        os.set_blocking(self._commands, False)
        self._end = os.pidfd_open(self._process.pid)
        self._output = Output(stdout, stderr)
        self._descriptors = (self._commands, stdout, stderr, self._statuses, self._code, terminal, self._end)
        self._run_code = f'eval "$(</proc/self/fd/{self._code})" </dev/null 2>&{stderr_of_cells}\n'.encode()
        self._tell_status = f"\\builtin printf '%s %s\\0' {{}} $? >&{statuses}\n"
        self._number = 0
        self._told = b""
        self._is_interrupted = False
        # Prompts go nowhere.
        self._command(b"exec 2>/dev/null; unset HISTFILE\n")

    @property
    def has_ended(self):
        return self._process.poll() is not None

    def run(self, code, on_output):
        """Returns the status of the code, or that of Bash when it has ended."""
        os.ftruncate(self._code, 0)
        with open(self._code, "r+b", closefd=False) as file:
            file.seek(0)
            file.write(code.encode("utf-8", "replace"))
        self._number += 1
        self._is_interrupted = False
        self._command(self._run_code)
        self._ask()
        while True:
            ready = self._output.wait_for((self._statuses, self._end), on_output, ASK_AGAIN_S)
            if self._end in ready:
                return self._status_of_end()
            if ready:
                status = self._read_status()
                if status is not None:
                    return status
            elif self._is_interrupted:
                self._ask()

    def interrupt(self):
        """Interrupts the code and the processes that it waits for. Those in the background go on."""
        self._is_interrupted = True
        self._signal(signal.SIGINT)

    def kill(self):
        self._signal(signal.SIGKILL)

    def close(self):
        for descriptor in self._descriptors:
            os.close(descriptor)

    def _signal(self, number):
        # Absent when all of them have ended.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _ask(self):
        self._command(self._tell_status.format(self._number).encode())

    def _command(self, line):
        try:
            os.write(self._commands, line)
        except (BlockingIOError, BrokenPipeError):
            # Full of earlier questions, or Bash has ended, which the wait notices.
            pass

    def _read_status(self):
        *told, self._told = (self._told + os.read(self._statuses, MAX_READ_BYTES)).split(b"\0")
        for number, status in (line.split() for line in told):
            if int(number) == self._number:
                return int(status)
        return None

    def _status_of_end(self):
        status = self._process.wait()
        # As shells tell signals.
        return status if status >= 0 else 128 - status


def _beyond_scripts(descriptor):
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR)
    finally:
        os.close(descriptor)


class BashKernel(Kernel):
    implementation = "code_interpreter_bash"
    implementation_version = "1"
    banner = "Bash"
    language_info = {"name": "bash", "mimetype": "text/x-sh", "file_extension": ".sh"}

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._variables = {}
        self._bash = BashProcess(self._variables)
        self._is_busy = False

    async def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False, **_):
        def on_output(name, text):
            self.send_response(self.iopub_socket, "stream", {"name": name, "text": text})

        if silent and code.startswith(VARIABLES_LINE):
            code = self._change_variables(json.loads(code[len(VARIABLES_LINE) :]))
        self._is_busy = True
        try:
            if self._bash.has_ended:
                self._start_again(on_output)
            status = self._bash.run(code, on_output)
            if self._bash.has_ended:
                self._start_again(on_output)
        finally:
            self._is_busy = False
        if status == 0:
            return {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": {}}
        error = {"ename": "", "evalue": str(status), "traceback": []}
        self.send_response(self.iopub_socket, "error", error)
        return {"status": "error", "execution_count": self.execution_count, **error}

    async def interrupt_request(self, stream, ident, parent):
        """Comes while a cell runs, in the thread of the control channel."""
        if self._is_busy:
            self._bash.interrupt()
        self.session.send(stream, "interrupt_reply", {"status": "ok"}, parent, ident=ident)

    def do_shutdown(self, restart):
        """Ends what the cell that runs has started, too."""
        self._bash.kill()
        return {"status": "ok", "restart": restart}

    def _start_again(self, on_output):
        on_output("stderr", "Bash has ended, and its state with it: it is started again\n")
        self._bash.close()
        self._bash = BashProcess(self._variables)

    def _change_variables(self, changes):
        """Returns the code that makes the changes, and keeps them for a Bash that is started later."""
        lines = []
        for name, value in changes.items():
            if not SHELL_NAME.fullmatch(name):
                continue
            if value is None:
                self._variables.pop(name, None)
                lines.append(f"unset {name}")
            else:
                self._variables[name] = value
                lines.append(f"export {name}={shlex.quote(value)}")
        return "\n".join(lines)


if __name__ == "__main__":
    IPKernelApp.launch_instance(kernel_class=BashKernel)
