"""The remote executor of smolagents: what a code agent runs for each step."""

from smolagents.monitoring import AgentLogger, LogLevel
from smolagents.remote_executors import E2BExecutor
from steps import finish, same, step

with step("create"):
    executor = E2BExecutor([], AgentLogger(level=LogLevel.ERROR), timeout=170)
try:
    with step("keep state between steps"):
        executor.run_code_raise_errors("x = 20")
        same(str(executor.run_code_raise_errors("x + 1").output), "21")
    with step("send variables"):
        executor.send_variables({"colour": "blue"})
        assert "blue" in executor.run_code_raise_errors("print(colour)").logs
finally:
    with step("clean up"):
        executor.cleanup()
finish()
