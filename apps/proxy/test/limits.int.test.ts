import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ProxyConfig } from '../src/config.ts'
import { MAX_REFUSED } from '../src/connections/client-connections.ts'
import { MemoryRoutes } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'
import { until } from './support/until.ts'

let routes: MemoryRoutes
let service: RunningService
let proxy: RunningProxy
const clients: RawClient[] = []
const held: ServerResponse[] = []

beforeAll(async () => {
  service = await startService((req, res) => {
    if (req.url === '/stream') res.write('begun')
    else if (req.url === '/held') held.push(res)
    else res.end('done')
  })
  service.server.on('upgrade', ({ url }, socket) => {
    const large = url === '/up' ? '' : `\r\nX: ${'x'.repeat(255 * 1024)}`
    const rest = url === '/partial' ? '' : '\r\n\r\nbegun'
    socket.on('error', () => undefined).write(`HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: raw${large}${rest}`)
  })
})
afterAll(() => service[Symbol.asyncDispose]())
beforeEach(() => {
  routes = new MemoryRoutes()
  for (const sandboxId of ['i1', 'i2']) {
    routes.run(sandboxId, service.port)
  }
})
afterEach(async () => {
  for (const client of clients.splice(0)) client[Symbol.dispose]()
  await proxy[Symbol.asyncDispose]()
})

async function start(settings: Partial<ProxyConfig>): Promise<void> {
  proxy = await startProxy(routes, settings)
}

function open(): RawClient {
  const client = new RawClient(proxy.port)
  clients.push(client)
  return client
}

async function stream(sandboxId = 'i1', headers: readonly string[] = []): Promise<RawClient> {
  const client = open()
  client.send(['GET /stream HTTP/1.1', `Host: 49983-${sandboxId}.x`, ...headers])
  await client.until('begun')
  return client
}

function upgrade(path: string, sandboxId = 'i1'): RawClient {
  const client = open()
  client.send([`GET ${path} HTTP/1.1`, `Host: 49983-${sandboxId}.x`, 'Connection: Upgrade', 'Upgrade: raw'])
  return client
}

/** The whole answer to a request on a new connection. */
async function ask(sandboxId = 'i1', headers: readonly string[] = []): Promise<string> {
  const client = open()
  client.send(['GET / HTTP/1.1', `Host: 49983-${sandboxId}.x`, ...headers, 'Connection: close'])
  await client.closed()
  return client.received
}

const BROWSER = ['User-Agent: Mozilla/5.0', 'Accept: text/html']

describe('requests and upgrades in flight to one sandbox', () => {
  it('are refused over the cap of this sandbox, until one ends', async () => {
    await start({ maxSandboxConnections: 2, maxSandboxClientConnections: 2 })
    const streamed = await stream()
    const switched = upgrade('/up')
    await switched.until('begun')

    const refused = await ask()
    expect(refused).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n/)
    expect(refused).toContain('\r\nRetry-After: 1\r\n')
    const message = 'The sandbox has too many concurrent incoming connections (limit: 2)'
    expect(refused).toContain(`{"sandboxId":"i1","message":"${message}","connectionLimit":2,`)
    expect(await ask('i1', BROWSER)).toMatch(/\r\n\r\n<html.*Too Many Connections.*\(limit: 2\).*<code>i1<\/code>.*<\/html>$/s)
    const third = upgrade('/up')
    await third.closed()
    expect(third.received).toMatch(/^HTTP\/1\.1 429 .*"connectionLimit":2/s)
    expect(await proxy.refusals('sandbox_connections')).toBe(3)

    expect(await ask('i2')).toContain('done')
    switched.socket.resetAndDestroy()
    await until('the end of the upgrade', () => proxy.ctx.tracker.count === 1)
    expect(await ask()).toContain('done')
    streamed.socket.destroy()
  })

  it('are refused over the share of one client, and other clients and sandboxes are served', async () => {
    await start({ fronts: ['127.0.0.0/8'], maxSandboxConnections: 5 })
    const from = (client: string): string[] => [`X-Forwarded-For: ${client}`]
    const streams = [await stream('i1', from('1.1.1.1')), await stream('i1', from('1.1.1.1')), await stream('i1', from('1.1.1.1'))]
    const refused = await ask('i1', from('1.1.1.1'))
    const message = 'Your address has too many concurrent connections to the sandbox (limit: 3)'
    const setting = 'SANDYARD_PROXY_MAX_SANDBOX_CLIENT_CONNECTIONS'
    expect(refused).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n/)
    expect(refused).toContain(`{"sandboxId":"i1","message":"${message}","limit":3,"setting":"${setting}","code":429}`)
    const switching = open()
    switching.send(['GET /up HTTP/1.1', 'Host: 49983-i1.x', 'Connection: Upgrade', 'Upgrade: raw', ...from('1.1.1.1')])
    await switching.closed()
    expect(switching.received).toMatch(/^HTTP\/1\.1 429 /)
    expect([await proxy.refusals('sandbox_client_connections'), await proxy.refusals('sandbox_connections')]).toEqual([2, 0])

    expect(await ask('i2', from('1.1.1.1'))).toContain('done')
    expect(await ask('i1', from('2.2.2.2'))).toContain('done')
    streams[0]?.socket.destroy()
    await until('a request that ends', () => proxy.ctx.tracker.count === 2)
    expect(await ask('i1', from('1.1.1.1'))).toContain('done')
  })

  it('of a trusted front that names no client count for the sandbox only', async () => {
    await start({ fronts: ['127.0.0.0/8'], maxSandboxConnections: 2 })
    await stream('i1')
    await stream('i1')
    expect(await ask('i1')).toContain('"connectionLimit":2')
  })
})

describe('upgrades whose answers have large heads', () => {
  it('are refused when too many of a sandbox have arrived only in part', async () => {
    await start({})
    const partial = Array.from({ length: 36 }, () => upgrade('/partial'))
    const text = 'too many response headers have arrived only in part (limit: 8388608 bytes)'
    // 32 have room.
    await until('the refusals', () => partial.filter(({ received }) => received.includes(text)).length === 4)
    await upgrade('/large').until(text)
    await upgrade('/large', 'i2').until('begun')
    for (const client of partial) client.socket.destroy()
    await until('the end of the others', () => proxy.ctx.tracker.count === 1)
    await upgrade('/large').until('begun')
  })
})

describe('connections', () => {
  const kinds = [
    ['of one client', { maxClientConnections: 2 }, 429, 'client_connections', 'Your address has too many open connections'],
    ['in total', { maxConnections: 2 }, 503, 'connections', 'The proxy has too many open connections'],
  ] as const

  it.each(kinds)('%s over the cap get a refusal and are closed', async (_, settings, status, cap, message) => {
    await start(settings)
    await stream()
    await stream()
    const refused = await ask('i2')
    expect(refused).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*"message":"${message} \\(limit: 2\\)","limit":2,`, 's'))
    expect(refused).toContain('\r\nConnection: close\r\n')
    expect(await ask('i2', BROWSER)).toMatch(/Content-Type: text\/html.*<html.*Too Many Connections.*<\/html>$/s)
    expect(await proxy.refusals(cap)).toBe(2)
    // The health probe of the proxy is not refused, and keeps no connection.
    const probe = open()
    probe.send(['GET /health HTTP/1.1', 'Host: localhost'])
    await probe.closed()
    expect(probe.received).toMatch(/^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/s)
    clients.shift()?.socket.destroy()
    await until('a free connection', () => proxy.ctx.clients.counts.connections === 1)
    expect(await ask('i2')).toContain('done')
  })

  it('far over the cap are closed at once, and none stays open', async () => {
    await start({ maxClientConnections: 2 })
    await stream()
    await stream()
    const more = Array.from({ length: MAX_REFUSED }, () => open())
    // Half of the refused connections of one client may wait for their answer.
    await until('the closed ones', () => more.filter(({ outcome }) => outcome !== undefined).length >= MAX_REFUSED / 2)
    expect(await proxy.refusals('client_connections')).toBe(MAX_REFUSED / 2)
    for (const client of more) await client.closed()
  })
})

describe('requests in flight', () => {
  const kinds = [
    ['of one client', { maxClientRequests: 2 }, 429, 'client_requests', 'Your address has too many requests in flight'],
    ['in total', { maxRequests: 2 }, 503, 'requests', 'The proxy has too many requests in flight'],
  ] as const

  it.each(kinds)('%s over the cap are refused', async (_, settings, status, cap, message) => {
    await start(settings)
    await stream('i1')
    const last = await stream('i2')
    const refused = await ask()
    expect(refused).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*"message":"${message} \\(limit: 2\\)","limit":2,`, 's'))
    expect(await proxy.refusals(cap)).toBe(1)
    expect((await fetch(`${proxy.url}/health`)).status).toBe(200)
    last.socket.destroy()
    await until('a request that ends', () => proxy.ctx.clients.counts.requests === 1)
    expect(await ask()).toContain('done')
  })

  const large = (): string[] => [`X-Large: ${'x'.repeat(10 * 1024)}`]

  it.each([
    [429, 'client_head_bytes', { maxHeadBytes: 52 * 1024 }, 'Your address has too many large request headers in flight'],
    [503, 'head_bytes', { maxHeadBytes: 26 * 1024 }, 'The proxy has too many large request headers in flight'],
  ] as const)('with large heads get a %i over the bytes that %s allows', async (status, cap, settings, message) => {
    await start({ ...settings, fronts: ['127.0.0.0/8'] })
    // Without an address of a client, a request behind a front counts for the server only.
    const from = cap === 'head_bytes' ? [] : ['X-Forwarded-For: 1.1.1.1']
    await stream('i1', [...from, ...large()])
    const last = await stream('i2', [...from, ...large()])
    expect(await ask('i1', [...from, ...large()])).toMatch(
      new RegExp(`^HTTP/1\\.1 ${status} .*"message":"${message} \\(limit: 26624 bytes\\)"`, 's'),
    )
    expect(await proxy.refusals(cap)).toBe(1)
    expect(await ask('i1', from)).toContain('done')
    last.socket.destroy()
    await until('a request that ends', () => proxy.ctx.clients.counts.requests === 1)
    expect(await ask('i1', [...from, ...large()])).toContain('done')
  })

  it('end their connection when they are pipelined over the cap', async () => {
    await start({ maxRequests: 10 })
    const client = await stream()
    client.socket.write('GET / HTTP/1.1\r\nHost: 49983-i1.x\r\n\r\n'.repeat(20))
    expect(await client.closed()).toBe('reset')
    expect(await proxy.refusals('requests')).toBe(1)
    await until('no request', () => proxy.ctx.clients.counts.requests === 0)
    expect(await ask()).toContain('done')
  })

  it('count separately for each client of a trusted front', async () => {
    await start({ fronts: ['127.0.0.0/8'], maxClientRequests: 1, maxClientConnections: 1 })
    await stream('i1', ['X-Forwarded-For: 1.1.1.1'])
    await stream('i1', ['X-Forwarded-For: 1.1.1.1, 2.2.2.2'])
    expect(await ask('i1', ['X-Forwarded-For: 3.3.3.3, 2.2.2.2'])).toMatch(/^HTTP\/1\.1 429 /)
    expect(await ask('i1', ['X-Forwarded-For: 2.2.2.2, 3.3.3.3'])).toContain('done')
  })
})

describe('a connection', () => {
  it.each([
    ['without a byte', ''],
    ['with half a head', 'GET / HTTP/1.1\r\nHost: 4'],
  ])('%s is closed when its head takes too long', async (_, bytes) => {
    await start({ headersTimeoutMs: 100 })
    const client = open()
    client.socket.write(bytes)
    expect(await client.closed()).toBe('end')
    expect(client.received).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n.*The request headers took too long$/s)
  })

  it('may take longer for a head only while an earlier request is served', async () => {
    await start({ headersTimeoutMs: 100 })
    const client = open()
    client.socket.write('GET /held HTTP/1.1\r\nHost: 49983-i1.x\r\n\r\nGET / HT')
    await until('the request', () => held.length === 1)
    // Another connection reaches its timeout meanwhile.
    const other = open()
    other.socket.write('GET / HT')
    expect(await other.closed()).toBe('end')
    held.shift()?.end('first')
    await client.until('first')
    expect(await client.closed()).toBe('end')
    expect(client.received).toMatch(/first.*HTTP\/1\.1 408 /s)
  })

  it('is closed when it is idle for too long', async () => {
    await start({ idleTimeoutMs: 100 })
    const client = open()
    client.send(['GET / HTTP/1.1', 'Host: 49983-i1.x'])
    await client.until('done')
    expect(await client.closed()).toBe('end')
  })

  it('is closed after the maximum of requests, which the last answer announces', async () => {
    await start({ maxConnectionRequests: 2 })
    const client = open()
    for (const answers of [1, 2]) {
      client.send(['GET / HTTP/1.1', 'Host: 49983-i1.x'])
      await until('the answer', () => client.received.split('done').length === answers + 1)
    }
    expect(await client.closed()).toBe('end')
    expect(client.received.split('HTTP/1.1 200').map((answer) => /^Connection: close/im.test(answer))).toEqual([false, false, true])
  })

  it('sends no request to a sandbox after the one whose answer closes the connection', async () => {
    await start({ maxConnectionRequests: 2 })
    const client = open()
    client.socket.write('GET /held HTTP/1.1\r\nHost: 49983-i1.x\r\n\r\n'.repeat(4))
    for (const answer of ['first', 'second']) {
      await until('the request', () => held.length === 1)
      held.pop()?.end(answer)
    }
    expect(await client.closed()).toBe('end')
    client.socket.end()
    await until('no request', () => proxy.ctx.clients.counts.requests === 0)
    expect([client.received.includes('second'), held.length]).toEqual([true, 0])
  })

  it('accepts a head up to the cap', async () => {
    await start({ maxHeaderBytes: 8 * 1024 })
    expect(await ask('i1', [`X: ${'x'.repeat(7 * 1024)}`])).toContain('done')
    expect(await ask('i1', [`X: ${'x'.repeat(9 * 1024)}`])).toMatch(/^HTTP\/1\.1 431 /)
  })

  it('sends the answers after the client has ended its sending', async () => {
    await start({})
    const client = open()
    client.socket.end('GET / HTTP/1.1\r\nHost: 49983-i1.x\r\n\r\n'.repeat(3))
    expect(await client.closed()).toBe('end')
    expect(client.received.split('done').length).toBe(4)
  })
})

describe('lookups', () => {
  it('of an id without a sandbox are cached for a short time, and a create is visible at once', async () => {
    await start({})
    for (let i = 0; i < 20; i++) expect(await ask('inew')).toContain('was not found')
    expect(routes.readsOf('inew')).toBeLessThan(10)
    routes.run('inew', service.port)
    expect(await ask('inew')).toContain('done')
  })

  it('over the cap are refused, and known sandboxes are still served', async () => {
    const answered = Promise.withResolvers<void>()
    const read = routes.read.bind(routes)
    await start({ routeQueries: 1, maxRouteLookups: 2 })
    expect(await ask('i1')).toContain('done')
    routes.read = async (ids) => {
      await answered.promise
      return await read(ids)
    }
    const slow = ask('ia')
    await until('the query', () => proxy.ctx.clients.counts.requests === 1)
    const waiting = [ask('ib'), ask('ic')]
    await until('the lookups', () => proxy.ctx.clients.counts.requests === 3)
    expect(await ask('id')).toMatch(/^HTTP\/1\.1 503 .*"message":"The proxy has too many sandboxes to look up/s)
    expect(await proxy.refusals('route_lookups')).toBe(1)
    expect(await ask('i1')).toContain('done')
    answered.resolve()
    for (const answer of await Promise.all([slow, ...waiting])) expect(answer).toContain('was not found')
  })
})
