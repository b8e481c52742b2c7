"""What a first program with the asynchronous SDK does: two sandboxes at the same time, commands, files, kill."""

import asyncio

from e2b import AsyncSandbox
from steps import finish, same, step


async def work(number):
    sandbox = await AsyncSandbox.create(timeout=120, envs={"NUMBER": str(number)})
    try:
        await sandbox.files.write("note", f"note {number}")
        result = await sandbox.commands.run('cat note; echo " in $NUMBER"')
        same(result.stdout, f"note {number} in {number}\n")
        running = await sandbox.commands.run("sleep 1000", background=True)
        same(await running.kill(), True)
    finally:
        same(await sandbox.kill(), True)


async def main():
    with step("two sandboxes at the same time"):
        await asyncio.gather(work(1), work(2))
    finish()


asyncio.run(main())
