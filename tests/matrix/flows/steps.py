"""What the flows in Python share; see run-flow.ts."""

import contextlib
import os
import sys


@contextlib.contextmanager
def step(name):
    """Does one step of a flow and prints `ok <name>`, or `failed <name>: <reason>`."""
    try:
        yield
    except BaseException as error:
        reason = str(error) or repr(error)
        print(f"failed {name}: {reason}".replace("\n", " "), flush=True)
        raise
    print(f"ok {name}", flush=True)


def same(found, wanted):
    """Fails with both values if they differ."""
    assert found == wanted, f"found {found!r}, expected {wanted!r}"


def finish():
    """Ends a flow that has passed. Native threads of the client abort at times when the interpreter itself shuts down."""
    sys.stdout.flush()
    os._exit(0)
