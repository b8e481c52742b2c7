"""What the scripts of the Python SDK share: expected failures and conditions to wait for."""

import asyncio
import os
import sys
import time


def failure_of(kind, work):
    """Returns the exception of type `kind` that `work` raises."""
    try:
        result = work()
    except kind as error:
        return error
    raise AssertionError(f"expected {kind.__name__}, got {result!r}")


async def async_failure_of(kind, work):
    """Returns the exception of type `kind` that the awaitable `work` raises."""
    try:
        result = await work
    except kind as error:
        return error
    raise AssertionError(f"expected {kind.__name__}, got {result!r}")


def until(what, work, seconds=60):
    """Returns the first true result of `work`."""
    deadline = time.monotonic() + seconds
    while True:
        result = work()
        if result:
            return result
        assert time.monotonic() < deadline, f"no {what} within {seconds} seconds"
        time.sleep(0.1)


async def async_until(what, work, seconds=60):
    """Returns the first true result of the coroutine function `work`."""
    deadline = time.monotonic() + seconds
    while True:
        result = await work()
        if result:
            return result
        assert time.monotonic() < deadline, f"no {what} within {seconds} seconds"
        await asyncio.sleep(0.1)


def finish(text):
    """Ends a script that has passed. Native threads of the client abort at times when the interpreter itself shuts down."""
    print(text)
    sys.stdout.flush()
    os._exit(0)
