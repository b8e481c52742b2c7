import pytest
from e2b import CommandExitException


def test_program_sorts_numbers(sandbox):
    sandbox.files.write("numbers", "10\n9\n1\n")
    assert sandbox.commands.run("sort -n numbers").stdout == "1\n9\n10\n"


def test_each_test_has_a_sandbox_of_its_own(sandbox):
    assert not sandbox.files.exists("numbers")


def test_failure_has_status_and_output(sandbox):
    with pytest.raises(CommandExitException) as failure:
        sandbox.commands.run("echo reason >&2; exit 3")
    assert (failure.value.exit_code, failure.value.stderr) == (3, "reason\n")
