import { readdirSync, readlinkSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { KernelPipe } from '../src/native/kernel-pipe.ts'
import { MemoryRoutes } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'
import { until } from './support/until.ts'

const SIZE = 16 * 1024 ** 2
const HOST = 'Host: 49983-i1.localhost'
const MAX_PIPES = 64
/** Pipes that the proxy keeps for later, with two descriptors each. */
const KEPT_DESCRIPTORS = 16
const CONTENT = Buffer.alloc(SIZE)
for (let at = 0; at < SIZE; at += 4) CONTENT.writeUInt32LE(at, at)

const routes = new MemoryRoutes()
let proxy: RunningProxy
let service: RunningService
const clients: RawClient[] = []
let held: ServerResponse[] = []

beforeAll(async () => {
  service = await startService((req, res) => {
    res.setHeader('Content-Length', SIZE)
    if (req.url === '/held') held.push(res)
    else res.end(req.method === 'GET' ? CONTENT : '')
  })
  proxy = await startProxy(routes)
  routes.run('i1', service.port)
})
afterEach(() => {
  for (const client of clients.splice(0)) client[Symbol.dispose]()
  held = []
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

/** A connection on loopback: the accepted socket, which reads nothing by itself, and its client. */
async function connectPair(): Promise<readonly [Socket, Socket]> {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [accepted] = (await once(server, 'connection')) as [Socket]
  server.close()
  return [accepted, client]
}

it('moves bytes from one socket to another, counts those in between, and moves nothing of a closed socket', async () => {
  const [from, sender] = await connectPair()
  const [receiver, to] = await connectPair()
  const pipe = KernelPipe.open()
  if (pipe === undefined) throw new Error('there is no pipe')
  sender.write('0123456789')
  let moved = 0
  await until('the bytes', () => (moved += pipe.fill(from, 8 - moved)) === 8)
  expect(pipe.held).toBe(8)
  expect(pipe.take(3).toString()).toBe('012')
  pipe.drain(to)
  expect(pipe.held).toBe(0)
  expect(String((await once(receiver.resume(), 'data'))[0])).toBe('34567')
  from.destroy()
  expect(pipe.fill(from, 8)).toBe(0)
  pipe.release()
  for (const socket of [sender, receiver, to]) socket.destroy()
})

function pipes(): number {
  const targets = readdirSync('/proc/self/fd').map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`)
    } catch {
      return ''
    }
  })
  return targets.filter((target) => target.startsWith('pipe:')).length
}

function open(path: string): RawClient {
  const client = new RawClient(proxy.port)
  client.send([`GET ${path} HTTP/1.1`, HOST])
  clients.push(client)
  return client
}

/** Clients that do not read, when they have what the buffers of their connections hold. */
async function openBlocked(count: number): Promise<RawClient[]> {
  const connections: Socket[] = []
  const onConnection = (socket: Socket): void => void connections.push(socket)
  proxy.server.http.on('connection', onConnection)
  const blocked = Array.from({ length: count }, () => {
    const client = open('/whole')
    client.socket.pause()
    return client
  })
  await until('connections that wait', () => connections.filter(({ writableLength }) => writableLength > 0).length === count)
  proxy.server.http.off('connection', onConnection)
  return blocked
}

function bodyOf({ received }: RawClient): Buffer {
  return Buffer.from(received.slice(received.indexOf('\r\n\r\n') + 4), 'latin1')
}

it(
  'has no more pipes for clients that do not read than its cap, and those with and without one get every byte',
  { timeout: 60_000 },
  async () => {
    const before = pipes()
    const blocked = await openBlocked(MAX_PIPES + 4)
    // Some may have been kept by earlier answers.
    expect(pipes()).toBeGreaterThanOrEqual(2 * MAX_PIPES)
    expect(pipes() - before).toBeLessThanOrEqual(2 * MAX_PIPES)
    for (const client of [...blocked.slice(0, 2), ...blocked.slice(-2)]) {
      client.socket.resume()
      await until('the answer', () => bodyOf(client).length === SIZE)
      expect(bodyOf(client).equals(CONTENT)).toBe(true)
    }
    for (const { socket } of blocked) socket.destroy()
    await until('no open connection', () => proxy.ctx.tracker.count === 0)
    expect(pipes() - before).toBeLessThanOrEqual(KEPT_DESCRIPTORS)
  },
)

it('gives up its pipes when their clients go away', { timeout: 60_000 }, async () => {
  const before = pipes()
  const blocked = await openBlocked(40)
  await until('pipes', () => pipes() - before > 0)
  for (const { socket } of blocked) socket.resetAndDestroy()
  await until('no open connection', () => proxy.ctx.tracker.count === 0)
  expect(pipes()).toBeLessThanOrEqual(Math.max(before, KEPT_DESCRIPTORS))
})

it('has a pipe for others when downloads stand still', { timeout: 60_000 }, async () => {
  const standing = Array.from({ length: MAX_PIPES + 1 }, () => open('/held'))
  await until('the requests', () => held.length === standing.length)
  const begin = CONTENT.subarray(0, 1024 ** 2)
  for (const res of held) res.write(begin)
  await until('what has arrived', () => standing.every((client) => bodyOf(client).length === begin.length))
  const pipe = KernelPipe.open()
  expect(pipe).toBeDefined()
  pipe?.release()
})

it('serves the next request of a connection behind a large answer', { timeout: 60_000 }, async () => {
  const client = open('/whole')
  await until('the answer', () => bodyOf(client).length === SIZE)
  client.received = ''
  client.send(['GET /whole HTTP/1.1', HOST])
  await until('the second answer', () => bodyOf(client).length === SIZE)
  expect(bodyOf(client).equals(CONTENT)).toBe(true)
})

it('cuts the answer of a sandbox that ends within it, after what has arrived', { timeout: 60_000 }, async () => {
  const client = open('/held')
  await until('the request', () => held.length === 1)
  const half = CONTENT.subarray(0, SIZE / 2)
  held[0]?.write(half)
  await until('the first half', () => bodyOf(client).length === half.length)
  held[0]?.destroy()
  await client.closed()
  expect(bodyOf(client).equals(half)).toBe(true)
})
