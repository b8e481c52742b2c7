"""What a first program with the synchronous SDK does: create, commands, files, a terminal, connect, list, kill."""

from e2b import CommandExitException, PtySize, Sandbox, SandboxQuery
from steps import finish, same, step

with step("create"):
    sandbox = Sandbox.create(timeout=120, metadata={"from": "matrix"}, envs={"COLOUR": "blue"})
try:
    with step("run a command"):
        result = sandbox.commands.run('echo "$COLOUR"; echo oops >&2')
        same((result.stdout, result.stderr, result.exit_code), ("blue\n", "oops\n", 0))
    with step("see a failing command"):
        try:
            sandbox.commands.run("exit 3")
            raise AssertionError("it passed")
        except CommandExitException as error:
            same(error.exit_code, 3)
    with step("stream a command in the background"):
        seen = []
        running = sandbox.commands.run('read line; echo "got $line"', background=True, stdin=True)
        sandbox.commands.send_stdin(running.pid, "hello\n")
        running.wait(on_stdout=seen.append)
        same("".join(seen), "got hello\n")
    with step("write, read, list and remove files"):
        sandbox.files.write("notes/a.txt", "first")
        sandbox.files.write("notes/b.txt", b"second")
        same(sandbox.files.read("notes/b.txt"), "second")
        same(sorted(entry.name for entry in sandbox.files.list("notes")), ["a.txt", "b.txt"])
        sandbox.files.remove("notes")
        same(sandbox.files.exists("notes"), False)
    with step("use a terminal"):
        shown = []
        terminal = sandbox.pty.create(PtySize(rows=24, cols=80))
        sandbox.pty.send_stdin(terminal.pid, b"stty size; exit\n")
        terminal.wait(on_pty=lambda data: shown.append(data))
        assert b"24 80" in b"".join(shown), shown
    with step("get the address of a port"):
        assert sandbox.get_host(3000).startswith(f"3000-{sandbox.sandbox_id}."), sandbox.get_host(3000)
    with step("list sandboxes"):
        pages = Sandbox.list(query=SandboxQuery(metadata={"from": "matrix"}))
        ids = []
        while pages.has_next:
            ids += [info.sandbox_id for info in pages.next_items()]
        assert sandbox.sandbox_id in ids, ids
    with step("connect to it again"):
        again = Sandbox.connect(sandbox.sandbox_id)
        same(again.commands.run("echo again").stdout, "again\n")
        same(again.get_info().metadata["from"], "matrix")
        again.set_timeout(60)
finally:
    with step("kill"):
        sandbox.kill()
finish()
