"""MCP servers behind the gateway of a sandbox: the SDK makes it, an MCP client uses its tools, before and after a pause."""

import asyncio
import os
from urllib.parse import urlsplit

from e2b import AsyncSandbox
from httpx import AsyncClient
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from steps import finish, same, step


async def main():
    with step("create with two servers"):
        sandbox = await AsyncSandbox.create(mcp={"filesystem": {"paths": ["/home/user"]}, "time": {}}, timeout=120)
    try:
        with step("get the address"):
            url = urlsplit(sandbox.get_mcp_url())
            same((url.scheme, url.hostname, url.path), ("https", sandbox.get_host(50005).split(":")[0], "/mcp"))
        with step("get the token"):
            token = await sandbox.get_mcp_token()
        await use_tools(sandbox, token)
    finally:
        with step("kill"):
            await sandbox.kill()


async def use_tools(sandbox, token):
    # The address of the SDK is for a domain with TLS. Without one the request goes to the proxy and names the sandbox and the port in its head.
    head = {"authorization": f"Bearer {token}", "e2b-sandbox-id": sandbox.sandbox_id, "e2b-sandbox-port": "50005"}
    async with (
        AsyncClient(headers=head, timeout=60) as http,
        streamable_http_client(f"{os.environ['E2B_SANDBOX_URL']}/mcp", http_client=http) as (incoming, outgoing, _),
        ClientSession(incoming, outgoing) as session,
    ):
        with step("open a session"):
            await session.initialize()
        with step("list the tools of both"):
            names = {tool.name for tool in (await session.list_tools()).tools}
            same(names & {"write_file", "get_current_time"}, {"write_file", "get_current_time"})
        with step("call a tool"):
            await session.call_tool("write_file", {"path": "/home/user/note", "content": "from a tool"})
            same(await sandbox.files.read("note"), "from a tool")
        with step("call a tool of the same session after a pause"):
            await sandbox.pause()
            resumed = await AsyncSandbox.connect(sandbox.sandbox_id)
            await session.call_tool("write_file", {"path": "/home/user/note", "content": "after the pause"})
            same(await resumed.files.read("note"), "after the pause")
            same(await resumed.get_mcp_token(), token)


asyncio.run(main())
finish()
