"""Secrets with the synchronous and the asynchronous Python SDK, configured by the environment only."""

import asyncio
import uuid

from e2b import AsyncSecret, Secret
from e2b.exceptions import SecretNotFoundException
from expecting import async_failure_of, failure_of, finish

name = f"acc-{uuid.uuid4()}"


def synchronous():
    made = Secret.create(name.upper(), "the value", metadata={"owner": "me"})
    assert (made.name, made.version, made.metadata) == (name, 1, {"owner": "me"}), made
    changed = Secret.update(name, "another value")
    assert (changed.secret_id, changed.version, changed.metadata) == (made.secret_id, 2, {"owner": "me"}), changed
    assert Secret.get_info(made.secret_id).name == name
    assert Secret.exists(name) is True
    pages = Secret.list(limit=1)
    seen = []
    while pages.has_next:
        seen += [secret.name for secret in pages.next_items()]
    assert name in seen, seen
    # This client does not encode names in paths.
    failure_of(SecretNotFoundException, lambda: Secret.get_info("a/b"))


async def asynchronous():
    changed = await AsyncSecret.update(name, "third value", metadata={})
    assert (changed.version, changed.metadata) == (3, {}), changed
    assert await AsyncSecret.destroy(name) is True
    assert await AsyncSecret.destroy(name) is False
    await async_failure_of(SecretNotFoundException, AsyncSecret.get_info(name))


synchronous()
asyncio.run(asynchronous())
finish("secrets done")
