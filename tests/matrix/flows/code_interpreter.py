"""Code in the kernels of `code-interpreter-v1`: state, output, errors, results of several types, contexts."""

from e2b_code_interpreter import Sandbox
from steps import finish, same, step

with step("create"):
    sandbox = Sandbox.create(timeout=170)
try:
    with step("keep state between cells"):
        sandbox.run_code("x = 20")
        same(sandbox.run_code("x + 1").text, "21")
    with step("stream output"):
        seen = []
        execution = sandbox.run_code(
            'print("one"); import sys; print("two", file=sys.stderr)', on_stdout=lambda message: seen.append(message.line)
        )
        same("".join(seen), "one\n")
        same("".join(execution.logs.stderr), "two\n")
    with step("report an error"):
        error = sandbox.run_code("1 / 0").error
        same(error.name, "ZeroDivisionError")
    with step("draw a chart"):
        drawn = sandbox.run_code("import matplotlib.pyplot as plt\nplt.plot([1, 2, 3], [1, 4, 9])\nplt.show()")
        assert len(drawn.results[0].png) > 1000
        same(drawn.results[0].chart.type.value, "line")
    with step("run JavaScript"):
        same(sandbox.run_code("1 + 2", language="js").text, "3")
    with step("use a context of its own"):
        context = sandbox.create_code_context(cwd="/tmp")
        same(sandbox.run_code("import os; os.getcwd()", context=context).text, "/tmp")
        same(sandbox.run_code("x", context=context).error.name, "NameError")
finally:
    with step("kill"):
        sandbox.kill()
finish()
