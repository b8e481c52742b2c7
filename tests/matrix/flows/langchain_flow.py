"""The backend of LangChain's Deep Agents: what an agent's tools call."""

from e2b import Sandbox
from langchain_e2b import E2BSandbox
from steps import finish, same, step

with step("create"):
    sandbox = Sandbox.create(timeout=100)
try:
    backend = E2BSandbox(sandbox=sandbox)
    with step("execute"):
        result = backend.execute("echo hello; exit 3")
        same((result.output.strip(), result.exit_code), ("hello", 3))
    with step("upload and download"):
        uploaded = backend.upload_files([("/home/user/work/a.bin", b"\x00\x01")])
        same([answer.error for answer in uploaded], [None])
        same([answer.content for answer in backend.download_files(["/home/user/work/a.bin"])], [b"\x00\x01"])
    with step("write, read and edit a file"):
        same(backend.write("/home/user/work/notes.txt", "red\ngreen\n").error, None)
        same(backend.edit("/home/user/work/notes.txt", "green", "blue").error, None)
        same(sandbox.files.read("/home/user/work/notes.txt"), "red\nblue\n")
        assert "blue" in str(backend.read("/home/user/work/notes.txt"))
    with step("search"):
        assert "notes.txt" in str(backend.grep("blue", path="/home/user/work"))
        assert "notes.txt" in str(backend.glob("*.txt", path="/home/user/work"))
        assert "notes.txt" in str(backend.ls("/home/user/work"))
finally:
    with step("kill"):
        sandbox.kill()
finish()
