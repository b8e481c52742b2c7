"""Pause, resume, snapshots and forks with the synchronous Python SDK, configured by the environment only."""

import uuid
from datetime import timedelta

from e2b import Sandbox, SandboxException, SandboxNotFoundException, SandboxQuery, SandboxState
from expecting import failure_of, finish, until

NUMBERS = "/tmp/numbers"


def all_items(pages):
    items = []
    while pages.has_next:
        items += pages.next_items()
    return items


def listed_ids(metadata, state):
    return [info.sandbox_id for info in all_items(Sandbox.list(SandboxQuery(metadata=metadata, state=state), limit=1))]


def snapshot_ids(**options):
    return [info.snapshot_id for info in all_items(Sandbox.list_snapshots(limit=1, **options))]


def numbers(sandbox):
    """What the counter has written: 1, 2, 3 and so on without a gap, unless it was started twice."""
    lines = [int(line) for line in sandbox.files.read(NUMBERS).split("\n")[:-1]]
    assert lines == list(range(1, len(lines) + 1)), lines
    return len(lines)


def start_counter(sandbox):
    loop = f"n=0; touch {NUMBERS}; while :; do n=$((n + 1)); echo $n >> {NUMBERS}; sleep 0.02; done"
    handle = sandbox.commands.run(loop, background=True, timeout=0)
    until("number", lambda: sandbox.files.exists(NUMBERS) and numbers(sandbox) > 0)
    return handle.pid


def check_info(sandbox, metadata):
    info = sandbox.get_info()
    assert (info.sandbox_id, info.name, info.state, info.metadata) == (sandbox.sandbox_id, "base", SandboxState.RUNNING, metadata), info
    assert (info.lifecycle["on_timeout"], info.lifecycle["auto_resume"]) == ("pause", True), info.lifecycle
    assert info.network["allow_public_traffic"] is False and info.network["mask_request_host"] == "masked.test", info.network
    assert info.end_at - info.started_at >= timedelta(seconds=300), info
    sandbox.update_network({})
    assert sandbox.get_info().network == info.network
    assert len(sandbox.traffic_access_token) == 64


def pause_with_memory(sandbox, metadata):
    pid = start_counter(sandbox)
    before = numbers(sandbox)
    assert sandbox.pause(mode="full", strict=True) is True
    assert sandbox.pause() is False
    assert sandbox.is_running() is False
    assert sandbox.get_info().state == SandboxState.PAUSED
    assert listed_ids(metadata, [SandboxState.PAUSED]) == [sandbox.sandbox_id]
    assert listed_ids(metadata, [SandboxState.RUNNING]) == []
    failure_of(SandboxNotFoundException, lambda: sandbox.set_timeout(60))
    sandbox.update_network({})

    again = Sandbox.connect(sandbox.sandbox_id, timeout=900)
    info = again.get_info()
    assert info.state == SandboxState.RUNNING and info.end_at - info.started_at >= timedelta(seconds=900), info
    until("later number", lambda: numbers(again) > before)
    assert pid in [process.pid for process in again.commands.list()]
    assert again.commands.run("echo $GREETING").stdout == "hej\n"
    assert listed_ids(metadata, [SandboxState.RUNNING, SandboxState.PAUSED]) == [sandbox.sandbox_id]


def pause_without_memory(sandbox):
    sandbox.files.write("kept.txt", "kept")
    assert sandbox.pause(mode="filesystem") is True
    assert sandbox.pause(mode="filesystem") is False
    sandbox.connect()
    assert sandbox.files.read("kept.txt") == "kept"
    assert sandbox.commands.run("pgrep -c -f '[/]tmp/numbers' || true").stdout == "0\n"

    sandbox.files.remove(NUMBERS)
    start_counter(sandbox)
    assert sandbox.pause() is True
    sandbox.connect(on_resume="reboot")
    assert sandbox.files.read("kept.txt") == "kept"
    assert sandbox.commands.run("pgrep -c -f '[/]tmp/numbers' || true").stdout == "0\n"


def fork(sandbox, metadata):
    sandbox.files.write("origin.txt", sandbox.sandbox_id)
    end_at = sandbox.get_info().end_at
    forks = sandbox.fork(count=3, timeout=200)
    try:
        assert len({one.sandbox_id for one in [sandbox, *forks]}) == 4, forks
        for one in forks:
            assert one.files.read("origin.txt") == sandbox.sandbox_id
            one.files.write("origin.txt", one.sandbox_id)
            info = one.get_info()
            assert info.metadata == metadata and info.end_at - info.started_at == timedelta(seconds=200), info
        assert [one.files.read("origin.txt") for one in forks] == [one.sandbox_id for one in forks]
        assert sandbox.files.read("origin.txt") == sandbox.sandbox_id
        assert sandbox.get_info().end_at == end_at
    finally:
        for one in forks:
            if isinstance(one, Sandbox):
                one.kill()


def take_snapshots(sandbox):
    name = f"acc-python-{uuid.uuid4().hex[:10]}"
    sandbox.files.write("state.txt", "one")
    unnamed = sandbox.create_snapshot()
    assert unnamed.names == [], unnamed
    named = sandbox.create_snapshot(name, mode="filesystem")
    sandbox.files.write("state.txt", "two")
    tagged = Sandbox.create_snapshot(sandbox.sandbox_id, name=f"{name}:v2")
    try:
        assert named.names == tagged.names and named.snapshot_id == f"{named.names[0]}:default", named
        assert tagged.snapshot_id == f"{named.names[0]}:v2", tagged
        for template, state in [(unnamed.snapshot_id, "one"), (name, "one"), (tagged.snapshot_id, "two")]:
            with Sandbox.create(template) as created:
                assert created.files.read("state.txt") == state, template
        assert snapshot_ids(sandbox_id=sandbox.sandbox_id) == [tagged.snapshot_id, unnamed.snapshot_id]
        assert snapshot_ids(name=name) == [tagged.snapshot_id]
        assert snapshot_ids(name=f"{name}:default") == [named.snapshot_id]
        assert "memory" in str(failure_of(SandboxException, lambda: sandbox.create_snapshot(mode="full")))
    finally:
        assert Sandbox.delete_snapshot(unnamed.snapshot_id) is True
        assert Sandbox.delete_snapshot(named.snapshot_id) is True
    assert Sandbox.delete_snapshot(tagged.snapshot_id) is False
    assert snapshot_ids(sandbox_id=sandbox.sandbox_id) == []


def check_metrics(sandbox):
    sample = until("sample", sandbox.get_metrics)[0]
    assert sample.cpu_count >= 1 and 0 < sample.mem_used < sample.mem_total, sample
    assert 0 < sample.disk_used < sample.disk_total, sample


def main():
    metadata = {"run": uuid.uuid4().hex}
    sandbox = Sandbox.create(
        metadata=metadata,
        envs={"GREETING": "hej"},
        lifecycle={"on_timeout": "pause", "auto_resume": True},
        network={"allow_public_traffic": False, "mask_request_host": "masked.test"},
    )
    try:
        check_info(sandbox, metadata)
        pause_with_memory(sandbox, metadata)
        take_snapshots(sandbox)
        fork(sandbox, metadata)
        check_metrics(sandbox)
        pause_without_memory(sandbox)
        assert sandbox.kill() is True
    finally:
        sandbox.kill()
    assert sandbox.kill() is False
    assert Sandbox.kill(sandbox.sandbox_id) is False
    failure_of(SandboxNotFoundException, lambda: Sandbox.get_info(sandbox.sandbox_id))
    failure_of(SandboxNotFoundException, lambda: Sandbox.pause(sandbox.sandbox_id))
    failure_of(SandboxNotFoundException, lambda: Sandbox.connect(sandbox.sandbox_id))
    failure_of(SandboxNotFoundException, lambda: Sandbox.fork(sandbox.sandbox_id))


main()
finish("lifecycle done")
