"""Pause, resume, snapshots and forks with the asynchronous Python SDK, configured by the environment only."""

import asyncio
import uuid
from datetime import timedelta

from e2b import AsyncSandbox, SandboxException, SandboxNotFoundException, SandboxQuery, SandboxState
from expecting import async_failure_of, async_until, finish

NUMBERS = "/tmp/numbers"


async def all_items(pages):
    items = []
    while pages.has_next:
        items += await pages.next_items()
    return items


async def listed_ids(metadata, state):
    pages = AsyncSandbox.list(SandboxQuery(metadata=metadata, state=state), limit=1)
    return [info.sandbox_id for info in await all_items(pages)]


async def snapshot_ids(**options):
    return [info.snapshot_id for info in await all_items(AsyncSandbox.list_snapshots(limit=1, **options))]


async def numbers(sandbox):
    """What the counter has written: 1, 2, 3 and so on without a gap, unless it was started twice."""
    lines = [int(line) for line in (await sandbox.files.read(NUMBERS)).split("\n")[:-1]]
    assert lines == list(range(1, len(lines) + 1)), lines
    return len(lines)


async def start_counter(sandbox):
    loop = f"n=0; while :; do n=$((n + 1)); echo $n >> {NUMBERS}; sleep 0.02; done"
    handle = await sandbox.commands.run(loop, background=True, timeout=0)
    await async_until("number", lambda: sandbox.files.exists(NUMBERS))
    return handle.pid


async def check_info(sandbox, metadata):
    info = await sandbox.get_info()
    assert (info.sandbox_id, info.name, info.state, info.metadata) == (sandbox.sandbox_id, "base", SandboxState.RUNNING, metadata), info
    assert (info.lifecycle["on_timeout"], info.lifecycle["auto_resume"]) == ("pause", True), info.lifecycle
    assert info.network["allow_public_traffic"] is False and info.network["mask_request_host"] == "masked.test", info.network
    await sandbox.update_network({})
    assert (await sandbox.get_info()).network == info.network
    assert len(sandbox.traffic_access_token) == 64


async def pause_with_memory(sandbox, metadata):
    pid = await start_counter(sandbox)
    before = await numbers(sandbox)
    assert sorted(await asyncio.gather(*(sandbox.pause(mode="full", strict=True) for _ in range(3))))[-1] is True
    assert await sandbox.pause() is False
    assert await sandbox.is_running() is False
    assert await listed_ids(metadata, [SandboxState.PAUSED]) == [sandbox.sandbox_id]
    assert await listed_ids(metadata, [SandboxState.RUNNING]) == []
    await async_failure_of(SandboxNotFoundException, sandbox.set_timeout(60))

    connects = await asyncio.gather(*(AsyncSandbox.connect(sandbox.sandbox_id, timeout=900) for _ in range(5)))
    assert [again.sandbox_id for again in connects] == [sandbox.sandbox_id] * 5
    again = connects[-1]
    info = await again.get_info()
    assert info.state == SandboxState.RUNNING and info.end_at - info.started_at >= timedelta(seconds=900), info

    async def has_counted_on():
        return await numbers(again) > before

    await async_until("later number", has_counted_on)
    assert pid in [process.pid for process in await again.commands.list()]
    assert (await again.commands.run("echo $GREETING")).stdout == "hej\n"


async def pause_without_memory(sandbox):
    await sandbox.files.write("kept.txt", "kept")
    assert await sandbox.pause(mode="filesystem") is True
    assert await sandbox.pause(mode="filesystem") is False
    await sandbox.connect()
    assert await sandbox.files.read("kept.txt") == "kept"
    assert (await sandbox.commands.run("pgrep -c -f '[/]tmp/numbers' || true")).stdout == "0\n"

    await sandbox.files.remove(NUMBERS)
    await start_counter(sandbox)
    assert await sandbox.pause() is True
    await sandbox.connect(on_resume="reboot")
    assert await sandbox.files.read("kept.txt") == "kept"
    assert (await sandbox.commands.run("pgrep -c -f '[/]tmp/numbers' || true")).stdout == "0\n"


async def fork(sandbox, metadata):
    await sandbox.files.write("origin.txt", sandbox.sandbox_id)
    forks = await sandbox.fork(count=3, timeout=200)
    try:
        assert len({one.sandbox_id for one in [sandbox, *forks]}) == 4, forks
        assert await asyncio.gather(*(one.files.read("origin.txt") for one in forks)) == [sandbox.sandbox_id] * 3
        await asyncio.gather(*(one.files.write("origin.txt", one.sandbox_id) for one in forks))
        assert await asyncio.gather(*(one.files.read("origin.txt") for one in forks)) == [one.sandbox_id for one in forks]
        assert await sandbox.files.read("origin.txt") == sandbox.sandbox_id
        for info in await asyncio.gather(*(one.get_info() for one in forks)):
            assert info.metadata == metadata and info.end_at - info.started_at == timedelta(seconds=200), info
    finally:
        await asyncio.gather(*(one.kill() for one in forks if isinstance(one, AsyncSandbox)))


async def take_snapshots(sandbox):
    name = f"acc-python-{uuid.uuid4().hex[:10]}"
    await sandbox.files.write("state.txt", "one")
    unnamed = await sandbox.create_snapshot()
    assert unnamed.names == [], unnamed
    named = await sandbox.create_snapshot(name, mode="filesystem")
    await sandbox.files.write("state.txt", "two")
    tagged = await AsyncSandbox.create_snapshot(sandbox.sandbox_id, name=f"{name}:v2")
    try:
        assert named.names == tagged.names and named.snapshot_id == f"{named.names[0]}:default", named

        async def state_of(template):
            async with await AsyncSandbox.create(template) as created:
                return await created.files.read("state.txt")

        templates = [unnamed.snapshot_id, name, tagged.snapshot_id]
        assert await asyncio.gather(*(state_of(template) for template in templates)) == ["one", "one", "two"]
        assert await snapshot_ids(sandbox_id=sandbox.sandbox_id) == [tagged.snapshot_id, unnamed.snapshot_id]
        assert await snapshot_ids(name=f"{name}:default") == [named.snapshot_id]
        assert "memory" in str(await async_failure_of(SandboxException, sandbox.create_snapshot(mode="full")))
    finally:
        assert await AsyncSandbox.delete_snapshot(unnamed.snapshot_id) is True
        assert await AsyncSandbox.delete_snapshot(named.snapshot_id) is True
    assert await AsyncSandbox.delete_snapshot(tagged.snapshot_id) is False
    assert await snapshot_ids(sandbox_id=sandbox.sandbox_id) == []


async def check_metrics(sandbox):
    sample = (await async_until("sample", sandbox.get_metrics))[0]
    assert sample.cpu_count >= 1 and 0 < sample.mem_used < sample.mem_total, sample
    assert 0 < sample.disk_used < sample.disk_total, sample


async def main():
    metadata = {"run": uuid.uuid4().hex}
    sandbox = await AsyncSandbox.create(
        metadata=metadata,
        envs={"GREETING": "hej"},
        lifecycle={"on_timeout": "pause", "auto_resume": True},
        network={"allow_public_traffic": False, "mask_request_host": "masked.test"},
    )
    try:
        await check_info(sandbox, metadata)
        await pause_with_memory(sandbox, metadata)
        await take_snapshots(sandbox)
        await fork(sandbox, metadata)
        await check_metrics(sandbox)
        await pause_without_memory(sandbox)
        assert await sandbox.kill() is True
    finally:
        await sandbox.kill()
    assert await AsyncSandbox.kill(sandbox.sandbox_id) is False
    await async_failure_of(SandboxNotFoundException, AsyncSandbox.get_info(sandbox.sandbox_id))
    await async_failure_of(SandboxNotFoundException, AsyncSandbox.connect(sandbox.sandbox_id))


asyncio.run(main())
finish("lifecycle done")
