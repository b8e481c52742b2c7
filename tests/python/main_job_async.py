"""The main job with the asynchronous Python SDK: the work of a first user, from create to kill, configured by the environment only."""

import asyncio
import time

from e2b import (
    AsyncSandbox,
    CommandExitException,
    FileNotFoundException,
    FileType,
    NotFoundException,
    SandboxState,
    TimeoutException,
)
from expecting import async_failure_of, finish

PATIENCE_SECONDS = 20


async def listed_ids():
    pages = AsyncSandbox.list()
    ids = []
    while pages.has_next:
        ids += [info.sandbox_id for info in await pages.next_items()]
    return ids


async def pids(sandbox):
    return [process.pid for process in await sandbox.commands.list()]


async def run_commands(sandbox):
    result = await sandbox.commands.run("echo hello; echo oops >&2")
    assert (result.stdout, result.stderr, result.exit_code) == ("hello\n", "oops\n", 0), result

    failure = await async_failure_of(CommandExitException, sandbox.commands.run("echo partial; echo reason >&2; exit 3"))
    assert (failure.stdout, failure.stderr, failure.exit_code) == ("partial\n", "reason\n", 3), failure
    assert failure.error == "exit status 3", failure.error

    command = 'echo "$GREETING from $(whoami) in $(pwd)"'
    result = await sandbox.commands.run(command, envs={"GREETING": "hej"}, cwd="/tmp")
    assert result.stdout == "hej from user in /tmp\n", result
    assert (await sandbox.commands.run("whoami; pwd", user="root")).stdout == "root\n/home/user\n"

    # This client does not enforce the time limit of a command; the server does.
    await asyncio.wait_for(async_failure_of(TimeoutException, sandbox.commands.run("exec sleep 600", timeout=1)), PATIENCE_SECONDS)

    numbers = range(20)
    results = await asyncio.gather(*(sandbox.commands.run(f"echo {number}") for number in numbers))
    assert [result.stdout for result in results] == [f"{number}\n" for number in numbers]


async def stream_output(sandbox):
    """The command ends only after this test has read its first line and opened the gate."""
    chunks = []

    async def open_gate(chunk):
        chunks.append(chunk)
        if "".join(chunks) == "first\n":
            await sandbox.commands.run("echo second > /tmp/gate")

    result = await sandbox.commands.run("mkfifo /tmp/gate && echo first && cat /tmp/gate", on_stdout=open_gate)
    assert "".join(chunks) == "first\nsecond\n", chunks
    assert result.stdout == "first\nsecond\n", result


async def kill_background_command(sandbox):
    handle = await sandbox.commands.run("exec sleep 600", background=True)
    assert handle.pid in await pids(sandbox)
    assert await handle.kill() is True
    failure = await async_failure_of(CommandExitException, handle.wait())
    assert (failure.exit_code, failure.error) == (-1, "signal: killed"), failure
    assert handle.pid not in await pids(sandbox)
    assert await sandbox.commands.kill(handle.pid) is False


async def move_files(sandbox):
    files = sandbox.files
    written = await files.write("notes/today.txt", "wörld")
    assert (written.name, written.type, written.path) == ("today.txt", FileType.FILE, "/home/user/notes/today.txt"), written
    assert await files.read("notes/today.txt") == "wörld"
    assert bytes(await files.read("notes/today.txt", format="bytes")) == "wörld".encode()
    assert await files.make_dir("notes/archive") is True
    assert await files.make_dir("notes/archive") is False
    entries = [(entry.name, entry.type) for entry in await files.list("notes")]
    assert entries == [("archive", FileType.DIR), ("today.txt", FileType.FILE)], entries

    moved = await files.rename("notes/today.txt", "notes/archive/monday.txt")
    assert (moved.path, moved.size) == ("/home/user/notes/archive/monday.txt", 6), moved
    assert await files.exists("notes/today.txt") is False
    assert await files.exists("notes/archive/monday.txt") is True
    info = await files.get_info("notes/archive/monday.txt")
    assert (info.type, info.size, info.mode) == (FileType.FILE, 6, 0o644), info
    assert (info.permissions, info.owner, info.group) == ("-rw-r--r--", "user", "user"), info
    assert info.modified_time is not None

    await files.remove("notes")
    assert await files.exists("notes") is False
    await async_failure_of(FileNotFoundException, files.read("notes/archive/monday.txt"))


async def manage_sandbox(sandbox):
    assert await sandbox.is_running() is True
    before = await sandbox.get_info()
    assert (before.sandbox_id, before.name, before.state) == (sandbox.sandbox_id, "base", SandboxState.RUNNING), before
    assert before.envd_version == "0.6.13" and before.end_at > before.started_at, before

    await sandbox.set_timeout(3600)
    assert (await sandbox.get_info()).end_at > before.end_at
    assert sandbox.sandbox_id in await listed_ids()

    await sandbox.files.write("kept.txt", "still here")
    again = await AsyncSandbox.connect(sandbox.sandbox_id)
    assert again.sandbox_id == sandbox.sandbox_id
    assert await again.files.read("kept.txt") == "still here"
    assert (await again.commands.run("cat kept.txt")).stdout == "still here"


async def main():
    sandbox = await AsyncSandbox.create()
    try:
        await run_commands(sandbox)
        await stream_output(sandbox)
        await kill_background_command(sandbox)
        await move_files(sandbox)
        await manage_sandbox(sandbox)
        assert await sandbox.kill() is True
    finally:
        await sandbox.kill()

    deadline = time.monotonic() + PATIENCE_SECONDS
    while await sandbox.is_running():
        assert time.monotonic() < deadline, "a killed sandbox still runs"
        await asyncio.sleep(0.1)
    assert await AsyncSandbox.kill(sandbox.sandbox_id) is False
    await async_failure_of(NotFoundException, AsyncSandbox.get_info(sandbox.sandbox_id))
    assert sandbox.sandbox_id not in await listed_ids()


asyncio.run(main())
finish("main job done")
