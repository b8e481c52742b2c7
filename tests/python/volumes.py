"""Volumes with the synchronous and the asynchronous Python SDK, configured by the environment only."""

import asyncio
import uuid

from e2b import AsyncVolume, Sandbox, Volume
from expecting import finish


def synchronous():
    volume = Volume.create(f"acc-{uuid.uuid4()}")
    try:
        volume.write_file("/notes/a.txt", "hällo", force=True)
        assert volume.read_file("/notes/a.txt") == "hällo"
        assert volume.read_file("/notes/a.txt", format="bytes") == "hällo".encode()
        entry = volume.get_info("/notes/a.txt")
        assert (entry.name, entry.size, entry.uid, entry.gid) == ("a.txt", 6, 9090, 9090), entry
        assert [entry.path for entry in volume.list("/", depth=2)] == ["/notes", "/notes/a.txt"]
        sandbox = Sandbox.create(volume_mounts={"/data": volume})
        try:
            assert sandbox.commands.run("cat /data/notes/a.txt").stdout == "hällo"
            sandbox.files.write("/data/made", "inside")
        finally:
            sandbox.kill()
        assert volume.read_file("/made") == "inside"
        volume.remove("/notes")
        assert volume.exists("/notes") is False
    finally:
        assert Volume.destroy(volume.volume_id) is True
    assert Volume.destroy(volume.volume_id) is False


async def asynchronous():
    volume = await AsyncVolume.create(f"acc-{uuid.uuid4()}")
    try:
        await volume.make_dir("/a/b", force=True)
        await volume.write_file("/a/b/c", b"\x00\xff")
        assert await volume.read_file("/a/b/c", format="bytes") == b"\x00\xff"
        assert volume.volume_id in [listed.volume_id for listed in await AsyncVolume.list()]
    finally:
        assert await AsyncVolume.destroy(volume.volume_id) is True


synchronous()
asyncio.run(asynchronous())
finish("volumes done")
