"""A sandbox session of the OpenAI Agents SDK, without a model: start, commands, files, stop with a pause, resume."""

import asyncio
import io
from pathlib import Path

from agents.extensions.sandbox import E2BSandboxClient, E2BSandboxClientOptions, E2BSandboxType
from steps import finish, same, step


async def main():
    client = E2BSandboxClient()
    options = E2BSandboxClientOptions(sandbox_type=E2BSandboxType.E2B, template="base", timeout=160, pause_on_exit=True)
    with step("create"):
        session = await client.create(options=options)
    try:
        with step("start"):
            await session.start()
        with step("run a command"):
            result = await session.exec("echo hello; exit 3", shell=True)
            same((result.stdout, result.exit_code), (b"hello\n", 3))
        with step("write and read a file"):
            await session.write(Path("notes/a.txt"), io.BytesIO(b"first"))
            same((await session.read(Path("notes/a.txt"))).read(), b"first")
        with step("stop with a pause, and resume"):
            state = session.state
            await session.stop()
            await session.shutdown()
            session = await client.resume(state)
            await session.start()
            same((await session.read(Path("notes/a.txt"))).read(), b"first")
    finally:
        with step("delete"):
            session.state.pause_on_exit = False
            await session.shutdown()
            await client.delete(session)
    finish()


asyncio.run(main())
