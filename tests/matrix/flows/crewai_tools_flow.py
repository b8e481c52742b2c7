"""The E2B tools of CrewAI as an agent calls them: one sandbox for each call, and one that stays."""

import os

os.environ["CREWAI_DISABLE_TELEMETRY"] = "true"
os.environ["OTEL_SDK_DISABLED"] = "true"

from crewai_tools import E2BExecTool, E2BFileTool  # noqa: E402
from e2b import Sandbox  # noqa: E402
from steps import finish, same, step  # noqa: E402

with step("a command in a sandbox of its own"):
    result = E2BExecTool(sandbox_timeout=60, envs={"COLOUR": "blue"}).run(command='echo "$COLOUR"')
    same((result["exit_code"], result["stdout"]), (0, "blue\n"))
files = E2BFileTool(persistent=True, sandbox_timeout=100)
try:
    # Not `append`: it passes a `bytearray`, which the client refuses before it asks a server (docs/from-e2b.md).
    with step("write, read and list files in one that stays"):
        files.run(action="write", path="/tmp/notes/a.txt", content="first")
        same(files.run(action="read", path="/tmp/notes/a.txt")["content"], "first")
        assert "a.txt" in str(files.run(action="list", path="/tmp/notes"))
finally:
    with step("close"):
        files.close()
with step("leave no sandbox"):
    same([info for info in Sandbox.list().next_items() if info.metadata.get("from") == "crewai"], [])
finish()
