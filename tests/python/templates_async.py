"""Templates with the asynchronous Python SDK: a short form of the calls in `templates.py`."""

import asyncio
import os
import tempfile
import time
import uuid

from e2b import AsyncSandbox, AsyncTemplate, BuildException, TemplateBuildStatus
from expecting import finish

PATIENCE_SECONDS = 60
NAME = f"acc-python-async-{uuid.uuid4().hex[:10]}"


async def build_and_run(context):
    messages = []
    template = AsyncTemplate(file_context_path=context).from_template("base").copy("file.txt", "copied/").run_cmd("cat copied/file.txt")
    info = await AsyncTemplate.build(template, f"{NAME}:one", on_build_logs=lambda entry: messages.append(entry.message))
    assert f"[builder 2/2] [stdout]: content of {NAME}" in messages, messages
    sandbox = await AsyncSandbox.create(f"{NAME}:one")
    try:
        assert (await sandbox.commands.run("cat copied/file.txt")).stdout == f"content of {NAME}\n"
    finally:
        await sandbox.kill()
    return info


async def background():
    template = AsyncTemplate().from_template("base").run_cmd(f"echo {NAME}")
    info = await AsyncTemplate.build_in_background(template, f"{NAME}:two")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (status := await AsyncTemplate.get_build_status(info)).status is not TemplateBuildStatus.READY:
        assert status.status is TemplateBuildStatus.BUILDING, status
        assert time.monotonic() < deadline, status
        await asyncio.sleep(0.2)
    return info


async def tags(one, two):
    assert await AsyncTemplate.exists(f"{NAME}:two") is True
    assert await AsyncTemplate.exists(f"{NAME}:three") is False
    assigned = await AsyncTemplate.assign_tags(f"{NAME}:one", "two")
    assert (assigned.build_id, assigned.tags) == (one.build_id, ["two"]), assigned
    found = {tag.tag: tag.build_id for tag in await AsyncTemplate.get_tags(NAME)}
    assert found == {"one": one.build_id, "two": one.build_id} and one.build_id != two.build_id, found
    await AsyncTemplate.remove_tags(NAME, ["two"])
    assert await AsyncTemplate.exists(f"{NAME}:two") is False


async def failing():
    try:
        await AsyncTemplate.build(AsyncTemplate().from_template("base").run_cmd("exit 9"), f"{NAME}:bad")
    except BuildException as failure:
        assert str(failure) == "failed to run command 'exit 9': exit status 9", failure
    else:
        raise AssertionError("a failing build was ready")


async def main():
    with tempfile.TemporaryDirectory() as context:
        with open(os.path.join(context, "file.txt"), "w") as file:
            file.write(f"content of {NAME}\n")
        one = await build_and_run(context)
    two = await background()
    await tags(one, two)
    await failing()


asyncio.run(main())
finish("templates done")
