"""The E2B toolkit of Agno. `code` as argument: its Python tool, which needs the default template of the code interpreter."""

import sys

from agno.tools.e2b import E2BTools
from steps import finish, same, step

wants_code = sys.argv[1:] == ["code"]
with step("create"):
    tools = E2BTools(timeout=100, sandbox_options={} if wants_code else {"template": "base"})
try:
    if wants_code:
        with step("run Python"):
            assert "42" in tools.run_python_code("print(6 * 7)")
    else:
        with step("run a command"):
            assert "hello" in tools.run_command("echo hello")
        with step("write, read and list files"):
            tools.write_file_content("/home/user/a.txt", "first")
            same(tools.read_file_content("/home/user/a.txt"), "first")
            assert "a.txt" in tools.list_files("/home/user")
        with step("get the address of a port"):
            assert tools.sandbox.sandbox_id in tools.get_public_url(3000)
        # Not `list_running_sandboxes`: it iterates over the pages of the client as over a list (docs/from-e2b.md).
finally:
    with step("shut down"):
        assert '"success"' in tools.shutdown_sandbox()
finish()
