import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { MemoryRoutes } from './support/memory-routes.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { until } from './support/until.ts'
import { usedHeap } from './support/used-heap.ts'

const KIB = 1024
const STREAMS = 64
const HEAD_BYTES = 250 * KIB
/** Answers of a service with large heads that go on without an end. Each kind is one piece of memory, however many there are. */
const LARGE = `X: ${'x'.repeat(HEAD_BYTES)}\r\n\r\n`
const ANSWER = Buffer.from(`HTTP/1.1 200 A reason that is long\r\n${LARGE}begun`)
const SWITCH = Buffer.from(`HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: raw\r\n${LARGE}begun`)

const routes = new MemoryRoutes()
const sockets = new Set<Socket>()
const clients: Socket[] = []
let proxy: RunningProxy
let service: Server
/** Used before the first of them. */
let baseline = 0

beforeAll(async () => {
  service = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('data', (head) => socket.write(head.includes('Upgrade: raw') ? SWITCH : ANSWER))
  })
  await once(service.listen(0, '127.0.0.1'), 'listening')
  proxy = await startProxy(routes)
  routes.run('i1', (service.address() as AddressInfo).port)
  baseline = usedHeap()
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await proxy[Symbol.asyncDispose]()
  service.close()
})

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy()
  await until('no open connection', () => proxy.ctx.tracker.count === 0)
})

it.each([
  ['a plain request', []],
  ['a request that Node reads', ['Keep-Alive: 1']],
  ['an upgrade', ['Connection: Upgrade', 'Upgrade: raw']],
])('the large head of an answer to %s leaves the memory when it was sent', async (_, extra) => {
  let received = 0
  for (let count = 0; count < STREAMS; count += 1) {
    const client = connect({ port: proxy.port, host: '127.0.0.1' })
    client.on('error', () => undefined).on('data', (bytes) => (received += bytes.length))
    client.write(['GET / HTTP/1.1', 'Host: 49983-i1.x', ...extra, '', ''].join('\r\n'))
    clients.push(client)
  }
  await until('the answers', () => received > STREAMS * HEAD_BYTES)
  const used = usedHeap() - baseline
  expect(proxy.ctx.tracker.count).toBe(STREAMS)
  expect(used / STREAMS).toBeLessThan(100 * KIB)
})
