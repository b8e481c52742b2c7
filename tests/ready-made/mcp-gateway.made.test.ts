import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Sandbox } from 'e2b'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { install } from './support/install.ts'
import { startTlsFront } from './support/tls-front.ts'

const BUILD_MS = 900_000

let sandbox: Sandbox
beforeAll(async () => {
  await install('mcp-gateway')
  sandbox = await Sandbox.create({ mcp: { filesystem: { paths: ['/home/user'] }, time: {} } })
}, BUILD_MS)
afterAll(async () => sandbox?.kill())

/** The SDK writes https and a name that only browsers resolve; this server is reached over plain http, with the parts of the name as headers. */
async function throughTheProxy(url: string | URL, init?: RequestInit): Promise<Response> {
  const [, port = '', id = ''] = /^https:\/\/(\d+)-(\w+)\./.exec(String(url)) ?? []
  const headers = new Headers(init?.headers)
  headers.set('e2b-sandbox-id', id)
  headers.set('e2b-sandbox-port', port)
  return fetch(new URL(new URL(url).pathname, process.env['E2B_SANDBOX_URL']), { ...init, headers })
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

async function connect(sandbox: Sandbox, token: string | undefined, fetch: Fetch = throughTheProxy): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(sandbox.getMcpUrl()), { requestInit, fetch }))
  return client
}

describe('Sandbox.create({ mcp })', () => {
  it('serves the tools of a server of npm and of one of PyPI at getMcpUrl()', async () => {
    const client = await connect(sandbox, await sandbox.getMcpToken())
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['read_text_file', 'write_file', 'get_current_time']))
    await client.callTool({ name: 'write_file', arguments: { path: '/home/user/a.txt', content: 'from a tool' } })
    expect(await sandbox.files.read('/home/user/a.txt')).toBe('from a tool')
    const time = await client.callTool({ name: 'get_current_time', arguments: { timezone: 'Europe/Paris' } })
    expect(JSON.stringify(time.content)).toContain('Europe/Paris')
    await client.close()
  })

  it('serves the address of the SDK as it is, where TLS ends before the proxy', async () => {
    await using front = await startTlsFront(process.env['E2B_SANDBOX_URL'] ?? '')
    const client = await connect(sandbox, await sandbox.getMcpToken(), front.fetch)
    const { content } = await client.callTool({ name: 'list_directory', arguments: { path: '/home/user' } })
    expect(JSON.stringify(content)).toContain('[FILE] .bashrc')
    await client.close()
  })

  it('serves its session after a pause', async () => {
    const client = await connect(sandbox, await sandbox.getMcpToken())
    await sandbox.pause()
    await Sandbox.connect(sandbox.sandboxId)
    await client.callTool({ name: 'write_file', arguments: { path: '/home/user/b.txt', content: 'after the pause' } })
    expect(await sandbox.files.read('/home/user/b.txt')).toBe('after the pause')
    await client.close()
  })

  it('keeps the token for a client that connects later, and answers 401 with another one', async () => {
    const later = await Sandbox.connect(sandbox.sandboxId)
    const token = await later.getMcpToken()
    expect(token).toBe(await sandbox.getMcpToken())
    await (await connect(later, token)).close()
    await expect(connect(later, 'another')).rejects.toThrow(/Authorization: Bearer/)
  })

  it('shows the token to no server', async () => {
    const token = (await sandbox.getMcpToken()) ?? ''
    const { stdout } = await sandbox.commands.run("cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n'", { user: 'root' })
    expect(stdout).toContain('mcp-server-filesystem')
    expect(stdout).not.toContain(token)
    const { stdout: users } = await sandbox.commands.run('ps -eo user,args | grep mcp-server- | grep -v grep')
    expect(
      users
        .trim()
        .split('\n')
        .every((line) => line.startsWith('user ')),
    ).toBe(true)
  })

  it('refuses a server that is an image, with a sentence', async () => {
    await expect(Sandbox.create({ mcp: { grafana: { apiKey: 'a', url: 'http://localhost' } } })).rejects.toThrow(
      /Failed to start MCP gateway: .*"grafana" is not a package of npm or PyPI/,
    )
  })
})
