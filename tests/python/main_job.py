"""The main job with the synchronous Python SDK: the work of a first user, from create to kill, configured by the environment only."""

import time

from e2b import (
    CommandExitException,
    FileNotFoundException,
    FilesystemEventType,
    FileType,
    NotFoundException,
    Sandbox,
    SandboxException,
    SandboxState,
    TimeoutException,
)
from expecting import failure_of, finish

PATIENCE_SECONDS = 20


def listed_ids():
    pages = Sandbox.list()
    ids = []
    while pages.has_next:
        ids += [info.sandbox_id for info in pages.next_items()]
    return ids


def run_commands(sandbox):
    result = sandbox.commands.run("echo hello; echo oops >&2")
    assert (result.stdout, result.stderr, result.exit_code) == ("hello\n", "oops\n", 0), result

    failure = failure_of(CommandExitException, lambda: sandbox.commands.run("echo partial; echo reason >&2; exit 3"))
    assert (failure.stdout, failure.stderr, failure.exit_code) == ("partial\n", "reason\n", 3), failure
    assert failure.error == "exit status 3", failure.error

    command = 'echo "$GREETING from $(whoami) in $(pwd)"'
    result = sandbox.commands.run(command, envs={"GREETING": "hej"}, cwd="/tmp")
    assert result.stdout == "hej from user in /tmp\n", result
    assert sandbox.commands.run("whoami; pwd", user="root").stdout == "root\n/home/user\n"

    failure_of(TimeoutException, lambda: sandbox.commands.run("exec sleep 600", timeout=1))


def stream_output(sandbox):
    """The command ends only after this test has read its first line and opened the gate."""
    chunks = []

    def open_gate(chunk):
        chunks.append(chunk)
        if "".join(chunks) == "first\n":
            sandbox.commands.run("echo second > /tmp/gate")

    result = sandbox.commands.run("mkfifo /tmp/gate && echo first && cat /tmp/gate", on_stdout=open_gate)
    assert "".join(chunks) == "first\nsecond\n", chunks
    assert result.stdout == "first\nsecond\n", result


def kill_background_command(sandbox):
    handle = sandbox.commands.run("exec sleep 600", background=True)
    assert handle.pid in [process.pid for process in sandbox.commands.list()]
    assert handle.kill() is True
    failure = failure_of(CommandExitException, handle.wait)
    assert (failure.exit_code, failure.error) == (-1, "signal: killed"), failure
    assert handle.pid not in [process.pid for process in sandbox.commands.list()]
    assert sandbox.commands.kill(handle.pid) is False


def move_files(sandbox):
    files = sandbox.files
    written = files.write("notes/today.txt", "wörld")
    assert (written.name, written.type, written.path) == ("today.txt", FileType.FILE, "/home/user/notes/today.txt"), written
    assert files.read("notes/today.txt") == "wörld"
    assert bytes(files.read("notes/today.txt", format="bytes")) == "wörld".encode()
    assert files.make_dir("notes/archive") is True
    assert files.make_dir("notes/archive") is False
    entries = [(entry.name, entry.type) for entry in files.list("notes")]
    assert entries == [("archive", FileType.DIR), ("today.txt", FileType.FILE)], entries

    moved = files.rename("notes/today.txt", "notes/archive/monday.txt")
    assert (moved.path, moved.size) == ("/home/user/notes/archive/monday.txt", 6), moved
    assert files.exists("notes/today.txt") is False
    assert files.exists("notes/archive/monday.txt") is True
    info = files.get_info("notes/archive/monday.txt")
    assert (info.type, info.size, info.mode) == (FileType.FILE, 6, 0o644), info
    assert (info.permissions, info.owner, info.group) == ("-rw-r--r--", "user", "user"), info
    assert info.modified_time is not None

    files.remove("notes")
    assert files.exists("notes") is False
    failure_of(FileNotFoundException, lambda: files.read("notes/archive/monday.txt"))


def watch_files(sandbox):
    """A poll right after a write returns its events."""
    sandbox.files.make_dir("watched")
    handle = sandbox.files.watch_dir("watched")
    sandbox.files.write("watched/new.txt", "x")
    events = [(event.type, event.name) for event in handle.get_new_events()]
    assert events == [(FilesystemEventType[kind], "new.txt") for kind in ("CREATE", "CHMOD", "WRITE")], events
    sandbox.files.remove("watched/new.txt")
    events = [(event.type, event.name) for event in handle.get_new_events()]
    assert events == [(FilesystemEventType.REMOVE, "new.txt")], events
    handle.stop()
    failure_of(SandboxException, handle.get_new_events)


def manage_sandbox(sandbox):
    assert sandbox.is_running() is True
    before = sandbox.get_info()
    assert (before.sandbox_id, before.name, before.state) == (sandbox.sandbox_id, "base", SandboxState.RUNNING), before
    assert before.envd_version == "0.6.13" and before.end_at > before.started_at, before

    sandbox.set_timeout(3600)
    assert sandbox.get_info().end_at > before.end_at
    assert sandbox.sandbox_id in listed_ids()

    sandbox.files.write("kept.txt", "still here")
    again = Sandbox.connect(sandbox.sandbox_id)
    assert again.sandbox_id == sandbox.sandbox_id
    assert again.files.read("kept.txt") == "still here"
    assert again.commands.run("cat kept.txt").stdout == "still here"


def main():
    sandbox = Sandbox.create()
    try:
        run_commands(sandbox)
        stream_output(sandbox)
        kill_background_command(sandbox)
        move_files(sandbox)
        watch_files(sandbox)
        manage_sandbox(sandbox)
        assert sandbox.kill() is True
    finally:
        sandbox.kill()

    deadline = time.monotonic() + PATIENCE_SECONDS
    while sandbox.is_running():
        assert time.monotonic() < deadline, "a killed sandbox still runs"
        time.sleep(0.1)
    assert Sandbox.kill(sandbox.sandbox_id) is False
    failure_of(NotFoundException, lambda: Sandbox.get_info(sandbox.sandbox_id))
    assert sandbox.sandbox_id not in listed_ids()


main()
finish("main job done")
