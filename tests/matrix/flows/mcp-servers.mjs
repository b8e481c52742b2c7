/** MCP servers behind the gateway of a sandbox: the SDK makes it, an MCP client uses its tools, before and after a pause. */
import assert from 'node:assert/strict'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Sandbox } from 'e2b'
import { finish, step } from './steps.mjs'

const mcp = { filesystem: { paths: ['/home/user'] }, time: {} }
const sandbox = await step('create with two servers', () => Sandbox.create({ mcp, timeoutMs: 120_000 }))
try {
  const url = new URL(sandbox.getMcpUrl())
  await step('get the address', async () => {
    assert.equal(url.protocol, 'https:')
    assert.equal(url.hostname, sandbox.getHost(50005).split(':')[0])
    assert.equal(url.pathname, '/mcp')
  })
  const token = await step('get the token', () => sandbox.getMcpToken())
  const client = new Client({ name: 'matrix', version: '1.0.0' })
  await step('open a session', () => {
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    return client.connect(new StreamableHTTPClientTransport(url, { requestInit, fetch: overHttp(sandbox.sandboxId) }))
  })
  await step('list the tools of both', async () => {
    const names = await toolNames(client)
    for (const name of ['write_file', 'get_current_time']) assert.ok(names.includes(name), `${name} is not in ${names}`)
  })
  await step('call a tool', async () => {
    await client.callTool({ name: 'write_file', arguments: { path: '/home/user/note', content: 'from a tool' } })
    assert.equal(await sandbox.files.read('note'), 'from a tool')
  })
  await step('call a tool of the same session after a pause', async () => {
    await sandbox.pause()
    const resumed = await Sandbox.connect(sandbox.sandboxId)
    await client.callTool({ name: 'write_file', arguments: { path: '/home/user/note', content: 'after the pause' } })
    assert.equal(await resumed.files.read('note'), 'after the pause')
    assert.equal(await resumed.getMcpToken(), token)
  })
  await step('close the session', () => client.close())
} finally {
  await step('kill', () => sandbox.kill())
}
finish()

/** The address of the SDK is for a domain with TLS. Without one the request goes to the proxy and names the sandbox and the port in its head. */
function overHttp(id) {
  return (url, init) => {
    const headers = new Headers(init?.headers)
    headers.set('e2b-sandbox-id', id)
    headers.set('e2b-sandbox-port', '50005')
    return fetch(new URL(new URL(url).pathname, process.env.E2B_SANDBOX_URL), { ...init, headers })
  }
}

async function toolNames(client) {
  const { tools } = await client.listTools()
  return tools.map(({ name }) => name)
}
