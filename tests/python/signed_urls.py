"""Signed URLs of the Python SDK, synchronous and asynchronous, requested without the id of their sandbox."""

import asyncio
import urllib.error
import urllib.request

from e2b import AsyncSandbox, Sandbox
from expecting import finish

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def ask(url, body=None):
    headers = {} if body is None else {"Content-Type": "application/octet-stream"}
    request = urllib.request.Request(url, data=body, headers=headers)
    try:
        with OPENER.open(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def check(sandbox, text):
    status, _ = ask(sandbox.upload_url("signed.txt"), text.encode())
    assert status == 200, status
    assert ask(sandbox.download_url("signed.txt")) == (200, text)
    assert ask(sandbox.download_url("signed.txt", user="user", use_signature_expiration=600)) == (200, text)

    status, body = ask(sandbox.download_url("signed.txt", use_signature_expiration=-10))
    assert status == 401 and "signature is already expired" in body, (status, body)
    status, body = ask(sandbox.download_url("signed.txt").replace("signed.txt", "other.txt"))
    assert status == 401 and "invalid signature" in body, (status, body)


def main():
    with Sandbox.create() as one, Sandbox.create() as two:
        check(one, "first")
        check(two, "second")
        assert ask(one.download_url("signed.txt")) == (200, "first")


async def main_async():
    sandbox = await AsyncSandbox.create()
    try:
        await asyncio.to_thread(check, sandbox, "asynchronous")
    finally:
        await sandbox.kill()


main()
asyncio.run(main_async())
finish("signed URLs done")
