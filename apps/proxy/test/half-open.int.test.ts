import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { ProxyConfig } from '../src/config.ts'
import { MemoryRoutes } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'
import { until } from './support/until.ts'

/** More than the buffers of the kernel hold. */
const LARGE_BYTES = 32 * 1024 ** 2
const HOST = 'Host: 49983-i1.x'
const routes = new MemoryRoutes()
let service: RunningService
let proxy: RunningProxy
const clients: RawClient[] = []
let held: ServerResponse[] = []

beforeAll(async () => {
  service = await startService((req, res) => {
    if (req.url === '/large') res.end(Buffer.alloc(LARGE_BYTES))
    else if (req.url === '/held') held.push(res)
    else res.write('begun')
  })
  service.server.on('upgrade', (_, socket) =>
    socket.on('error', () => undefined).write('HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\nbegun'),
  )
  routes.run('i1', service.port)
})
afterAll(() => service[Symbol.asyncDispose]())
afterEach(async () => {
  for (const client of clients.splice(0)) client[Symbol.dispose]()
  held = []
  await proxy[Symbol.asyncDispose]()
})

async function start(settings: Partial<ProxyConfig>): Promise<void> {
  proxy = await startProxy(routes, { halfOpenTimeoutMs: 60_000, ...settings })
}

function open(): RawClient {
  const client = new RawClient(proxy.port)
  clients.push(client)
  return client
}

async function stream(): Promise<RawClient> {
  const client = open()
  client.send(['GET /stream HTTP/1.1', HOST])
  await client.until('begun')
  return client
}

/** Requests that are cancelled show that the time has passed. */
async function someCancels(): Promise<void> {
  for (let count = 0; count < 3; count += 1) {
    const idle = await stream()
    idle.socket.end()
    await idle.closed()
  }
}

it('a client that has ended its sending and gets nothing is disconnected, which cancels its request', async () => {
  await start({ cancelTimeoutMs: 100 })
  const client = await stream()
  const connection = service.accepted.at(-1)
  client.socket.end()
  await client.closed()
  if (connection?.destroyed === false) await once(connection, 'close')
})

it('a client that has ended its sending gets all that it still has to read', async () => {
  await start({ cancelTimeoutMs: 20 })
  const accepted = once(proxy.server.http, 'connection') as Promise<[Socket]>
  const slow = open()
  slow.socket.pause()
  slow.send(['GET /large HTTP/1.1', HOST, 'Connection: close'])
  const [connection] = await accepted
  await until('an answer that waits for the client', () => connection.writableLength > 0)
  slow.socket.end()
  await someCancels()
  slow.socket.resume()
  expect(await slow.closed()).toBe('end')
  expect(slow.received.length).toBeGreaterThan(LARGE_BYTES)
})

it('a client that has ended its sending after a switch of protocols waits as long as its service', async () => {
  await start({ halfOpenTimeoutMs: 20, cancelTimeoutMs: 20 })
  const switched = open()
  switched.send(['GET /up HTTP/1.1', HOST, 'Connection: Upgrade', 'Upgrade: raw'])
  await switched.until('begun')
  const connection = service.accepted.at(-1)
  switched.socket.end()
  await someCancels()
  connection?.end('late')
  expect(await switched.closed()).toBe('end')
  expect(switched.received).toMatch(/begunlate$/)
})

it.each([
  ['a plain request', []],
  ['a request that Node reads', ['Keep-Alive: 1']],
])('a client gets the answer to %s and a 400 when it has sent bytes that are no request and has ended its sending', async (_, extra) => {
  await start({ cancelTimeoutMs: 60_000 })
  const accepted = once(proxy.server.http, 'connection') as Promise<[Socket]>
  const client = open()
  client.send(['GET /held HTTP/1.1', HOST, ...extra])
  const [connection] = await accepted
  await until('the request', () => held.length === 1)
  client.socket.end('no request\r\n\r\n')
  await until('the end of the sending', () => connection.readableEnded)
  held[0]?.end('late')
  expect(await client.closed()).toBe('end')
  expect(client.received).toMatch(/^HTTP\/1\.1 200 .*late.*HTTP\/1\.1 400 .*Bad request$/s)
})
