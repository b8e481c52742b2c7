"""Passes on what a process that runs cells prints: the kernels of Bash and Java."""

import codecs
import os
import select
import time

# What a pipe holds.
PIECE_BYTES = 64 * 1024
# Small pieces of output that follow one another are sent as one.
GATHER_S = 0.02


class Output:
    """The ends of two pipes: the standard output and the standard error of a process and of its children."""

    def __init__(self, stdout, stderr):
        self._streams = {}
        for name, descriptor in (("stdout", stdout), ("stderr", stderr)):
            os.set_blocking(descriptor, False)
            self._streams[descriptor] = (name, codecs.getincrementaldecoder("utf-8")(errors="replace"))

    def wait_for(self, descriptors, on_output, timeout_s=None):
        """Passes output on until one of the descriptors can be read: these, after all that was written before; none when the time is over."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        waiting = select.poll()
        for descriptor in (*descriptors, *self._streams):
            waiting.register(descriptor, select.POLLIN)
        while True:
            left_s = None if deadline is None else deadline - time.monotonic()
            if left_s is not None and left_s <= 0:
                return []
            ready = [descriptor for descriptor, _ in waiting.poll(None if left_s is None else left_s * 1000)]
            found = [descriptor for descriptor in descriptors if descriptor in ready]
            if found:
                # Once: a process that prints on and on must not keep the cell from its end.
                for descriptor in self._streams:
                    self._pass_on(descriptor, on_output)
                return found
            read = {descriptor: self._pass_on(descriptor, on_output) for descriptor in ready}
            for descriptor, length in read.items():
                if length == 0:
                    # Closed by the process, which may go on without it.
                    waiting.unregister(descriptor)
            if all(length < PIECE_BYTES for length in read.values()):
                # Ends with what is waited for.
                select.select(descriptors, [], [], GATHER_S)

    def _pass_on(self, descriptor, on_output):
        """The number of bytes: 0 at the end, -1 when there are none now."""
        try:
            data = os.read(descriptor, PIECE_BYTES)
        except BlockingIOError:
            return -1
        name, decoder = self._streams[descriptor]
        text = decoder.decode(data, final=not data)
        if text:
            on_output(name, text)
        return len(data)
