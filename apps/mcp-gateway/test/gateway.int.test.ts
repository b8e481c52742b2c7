import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { lateServer, prepareGateway, tinyServers, type GatewayCommand } from './gateway-command.ts'

const TOKEN = 'token-of-the-test'

let gateway: GatewayCommand
let client: Client
beforeAll(async () => {
  gateway = await prepareGateway()
  expect(await gateway.run(['--config', JSON.stringify(tinyServers('one', 'two'))], TOKEN)).toEqual({ code: 0, stderr: '' })
  client = await gateway.connect(TOKEN)
})
afterAll(async () => {
  await client?.close()
  await gateway?.[Symbol.asyncDispose]()
})

async function call(name: string): Promise<string> {
  const { content } = await client.callTool({ name })
  return (content as { text: string }[])[0]?.text ?? ''
}

describe('the endpoint', () => {
  it('serves the tools of all servers by names that do not collide', async () => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['who', 'github_tiny_two__who']))
    expect(await call('who')).toBe('one')
    expect(await call('github_tiny_two__who')).toBe('two')
    await expect(call('unknown')).rejects.toThrow('unknown tool "unknown"')
  })

  it('serves prompts, resources and resources of templates', async () => {
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['greet', 'github_tiny_two__greet'])
    const prompt = await client.getPrompt({ name: 'github_tiny_two__greet' })
    expect(prompt.messages).toMatchObject([{ content: { text: 'hello from two' } }])
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['tiny://one/fixed', 'tiny://two/fixed'])
    expect((await client.readResource({ uri: 'tiny://two/fixed' })).contents).toMatchObject([{ text: 'fixed of two' }])
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(2)
    expect((await client.readResource({ uri: 'tiny://two/any/7' })).contents).toMatchObject([{ text: '/any/7 of two' }])
  })

  it('passes on the progress of a call', async () => {
    const steps: number[] = []
    const seen = Promise.withResolvers<void>()
    const called = client.callTool({ name: 'step' }, undefined, {
      onprogress: ({ progress }) => {
        steps.push(progress)
        seen.resolve()
      },
    })
    await Promise.race([seen.promise, called])
    await call('go-on')
    await called
    expect(steps).toEqual([1])
  })

  it('tells clients when the tools of a server change', async () => {
    let told = 0
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (told += 1))
    await call('grow')
    await expect.poll(async () => (await client.listTools()).tools.map(({ name }) => name)).toContain('grown')
    await expect.poll(() => told).toBeGreaterThan(0)
    expect(await call('grown')).toBe('grown')
  })

  it('starts a server again that has died', async () => {
    const pid = Number(await call('process'))
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => call('process').catch(() => String(pid))).not.toBe(String(pid))
    expect(await call('who')).toBe('one')
  })
})

describe('the token', () => {
  const post = (headers: Record<string, string>, path = '/mcp', body = '{}'): Promise<Response> =>
    fetch(new URL(path, gateway.url), { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) })

  it('is required for every request', async () => {
    expect((await post({})).status).toBe(401)
    expect((await post({ authorization: 'Bearer other' })).status).toBe(401)
    expect((await post({ authorization: TOKEN })).status).toBe(401)
    expect((await post({}, '/other')).status).toBe(401)
    const allowed = { authorization: `Bearer ${TOKEN}` }
    expect((await post(allowed)).status).toBe(400)
    expect((await post(allowed, '/other')).status).toBe(404)
    expect((await post({ ...allowed, 'mcp-session-id': 'unknown' })).status).toBe(404)
  })

  it('does not help against the limit of a body', async () => {
    const answer = await post({ authorization: `Bearer ${TOKEN}` }, '/mcp', 'x'.repeat(8 * 1024 * 1024 + 1))
    expect(answer.status).toBe(413)
  })

  it('is in a file for its owner only, and neither in the log nor with the servers', async () => {
    const file = join(gateway.folder, 'state/.token')
    expect(await readFile(file, 'utf8')).toBe(TOKEN)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readFile(join(gateway.folder, 'state/gateway.log'), 'utf8')).not.toContain(TOKEN)
    const environment = await call('environment')
    expect(environment).toContain('"OWN":"one"')
    expect(environment).not.toContain(TOKEN)
    const pid = await readFile(join(gateway.folder, 'state/gateway.pid'), 'utf8')
    expect(await readFile(`/proc/${pid}/environ`, 'utf8')).not.toContain(TOKEN)
  })
})

describe('the command', () => {
  it('takes the place of a gateway that runs, with its own token and servers', async () => {
    expect(await gateway.run(['--config', JSON.stringify(tinyServers('two'))], 'second')).toEqual({ code: 0, stderr: '' })
    await expect(gateway.connect(TOKEN)).rejects.toThrow(/Authorization: Bearer/)
    await using second = Object.assign(await gateway.connect('second'), {
      async [Symbol.asyncDispose](this: Client) {
        await this.close()
      },
    })
    expect((await second.callTool({ name: 'who' })).content).toEqual([{ type: 'text', text: 'two' }])
  })

  it('has lists wait for servers that are still being started', async () => {
    const gate = join(gateway.folder, 'gate')
    const started = gateway.run(['--config', JSON.stringify(lateServer('late', gate))], 'third')
    const third = await vi.waitFor(() => gateway.connect('third'), { timeout: 20_000 })
    const listed = third.listTools()
    const called = third.callTool({ name: 'who' })
    // Requests of a session are handled in their order.
    await third.ping()
    await writeFile(gate, '')
    expect((await listed).tools.map(({ name }) => name)).toContain('who')
    expect((await called).content).toEqual([{ type: 'text', text: 'late' }])
    expect(await started).toEqual({ code: 0, stderr: '' })
    await third.close()
  })

  it.each([
    [['--config', '{"grafana":{}}'], 'a', /the server "grafana" is not a package of npm or PyPI/],
    [['--config', '{}'], undefined, /GATEWAY_ACCESS_TOKEN is not set/],
    [['pull', 'grafana'], undefined, /the server "grafana" is not a package/],
    [['other'], 'a', /usage: mcp-gateway --config <json>/],
    [
      ['--config', '{"github/tiny/broken":{"runCmd":"echo no key >&2; exit 3"}}'],
      'a',
      /the server "github\/tiny\/broken" did not start: .*no key/,
    ],
  ])('fails with a sentence for %j', async (words, token, message) => {
    const { code, stderr } = await gateway.run(words, token)
    expect(code).toBe(1)
    expect(stderr).toMatch(message)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })
})
