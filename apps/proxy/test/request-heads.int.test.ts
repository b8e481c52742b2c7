import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import type { ProxyConfig } from '../src/config.ts'
import { MemoryRoutes } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'
import { until } from './support/until.ts'
import { usedHeap } from './support/used-heap.ts'

const routes = new MemoryRoutes()
let service: RunningService
let proxy: RunningProxy
const clients: RawClient[] = []

beforeAll(async () => {
  service = await startService((_, res) => void res.end('done'))
  routes.run('i1', service.port)
})
afterAll(() => service[Symbol.asyncDispose]())
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

/** The whole answer to a request on a new connection. */
async function ask(headers: readonly string[] = []): Promise<string> {
  const client = open()
  client.send(['GET / HTTP/1.1', 'Host: 49983-i1.x', ...headers, 'Connection: close'])
  await client.closed()
  return client.received
}

const large = (): string[] => [`X-Large: ${'x'.repeat(10 * 1024)}`]

it('requests with many small headers count what they take in memory', async () => {
  await start({ maxHeadBytes: 52 * 1024 })
  const headers = Array.from({ length: 400 }, () => 'a:')
  expect(await ask(headers)).toMatch(/^HTTP\/1\.1 429 /)
  expect(await ask(headers.slice(0, 20))).toContain('done')
})

const many = `GET / HTTP/1.1\r\n${'a:\r\n'.repeat(80)}`
it.each([
  ['one header', `GET / HTTP/1.1\r\nX-Large: ${'x'.repeat(10 * 1024)}`],
  ['many headers', many],
  ['behind a request', `GET / HTTP/1.1\r\nHost: 49983-i1.x\r\n\r\n${many}`],
  ['behind a body', `POST / HTTP/1.1\r\nHost: 49983-i1.x\r\nContent-Length: 4\r\n\r\n\r\n\r\n${many}`],
])('requests whose heads have arrived only in part are refused over that memory: %s', async (_, text) => {
  await start({ maxHeadBytes: 52 * 1024 })
  const partial = [open(), open()]
  for (const client of partial) client.socket.write(text)
  await until('the parts', () => proxy.ctx.clients.counts.headBytes > 20 * 1024)
  const third = open()
  third.socket.write(text)
  await third.closed()
  expect(await proxy.refusals('client_head_bytes')).toBe(1)
  expect(await ask()).toContain('done')
  partial[0]?.socket.destroy()
  partial[1]?.socket.write('\r\n\r\n')
  await until('free bytes', () => proxy.ctx.clients.counts.headBytes === 0)
})

it('heads in part count on connections over the cap too', async () => {
  await start({ maxClientConnections: 1 })
  const first = open()
  await until('the connection', () => proxy.ctx.clients.counts.connections === 1)
  const refused = open()
  refused.socket.write(many)
  await until('the part', () => proxy.ctx.clients.counts.headBytes > 10 * 1024)
  refused.socket.destroy()
  await until('free bytes', () => proxy.ctx.clients.counts.headBytes === 0)
  first.socket.destroy()
})

it.each([
  ['with a length', 'Content-Length: 50000', '\r\n'.repeat(25_000)],
  ['in chunks', 'Transfer-Encoding: chunked', `c350\r\n${'\r\n'.repeat(25_000)}\r\n0\r\n\r\n`],
])('bodies do not count: %s', async (_, framing, body) => {
  await start({ maxHeadBytes: 52 * 1024 })
  const client = open()
  for (const answers of [1, 2]) {
    client.send(['POST / HTTP/1.1', 'Host: 49983-i1.x', 'Keep-Alive: 1', framing], body)
    await until('the answer', () => client.received.split('done').length === answers + 1)
    expect(proxy.ctx.clients.counts.headBytes).toBe(0)
  }
  expect(await proxy.refusals('client_head_bytes')).toBe(0)
})

it('a head in part that is refused leaves the memory before its connection is closed', async () => {
  await start({})
  const before = usedHeap()
  const headers = 'a:\r\n'.repeat(15_000)
  // Each takes 400 KiB, and 33 are allowed.
  for (let count = 0; count < 100; count += 1) open().socket.write(`GET / HTTP/1.1\r\n${headers}`)
  await vi.waitFor(async () => expect(await proxy.refusals('client_head_bytes')).toBe(67), { timeout: 20_000 })
  expect(usedHeap() - before).toBeLessThan(50 * 400 * 1024)
})

it('requests keep their heads counted until their bodies have ended', async () => {
  await start({ maxHeadBytes: 52 * 1024 })
  const refusedEarly = async (): Promise<ReturnType<typeof open>> => {
    const client = open()
    client.send(['POST / HTTP/1.1', 'Host: 49983-inone.x', 'Content-Length: 5', ...large()])
    await client.until('HTTP/1.1 502')
    return client
  }
  const [first, second] = [await refusedEarly(), await refusedEarly()]
  expect(await ask(large())).toMatch(/^HTTP\/1\.1 429 /)
  first.socket.write('12345')
  await vi.waitFor(async () => expect(await ask(large())).toContain('done'), { timeout: 10_000 })
  second.socket.destroy()
  await until('free bytes', () => proxy.ctx.clients.counts.headBytes === 0)
})

it.each([
  ['plain', []],
  ['by Node', ['Keep-Alive: 1']],
])('requests end their connection when their bodies go on for too long after their answers, %s', async (_, extra) => {
  // Long enough for the first client, however loaded the machine is.
  await start({ bodyRestTimeoutMs: 1000 })
  const answered = async (): Promise<RawClient> => {
    const client = open()
    client.send(['POST / HTTP/1.1', 'Host: 49983-inone.x', 'Content-Length: 5', ...large(), ...extra])
    await client.until('HTTP/1.1 502')
    return client
  }
  const inTime = await answered()
  inTime.socket.write('12345')
  const late = await answered()
  late.socket.write('1')
  await late.closed()
  await until('free bytes', () => proxy.ctx.clients.counts.headBytes === 0)
  inTime.send(['GET / HTTP/1.1', 'Host: 49983-i1.x'])
  await inTime.until('done')
})
