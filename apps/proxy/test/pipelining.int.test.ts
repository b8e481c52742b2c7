import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { MemoryRoutes } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'
import { until } from './support/until.ts'

const routes = new MemoryRoutes()
let proxy: RunningProxy
let service: RunningService
let inFlight = 0
let mostInFlight = 0
let held: ServerResponse[] = []

beforeAll(async () => {
  service = await startService(serve)
  service.server.on('upgrade', (_, socket) =>
    socket.on('error', () => undefined).end('HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\nswitched'),
  )
  proxy = await startProxy(routes)
  routes.run('i1', 9)
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})
afterEach(async () => {
  for (const res of held) res.end()
  held = []
  await until('no request', () => proxy.ctx.clients.counts.requests === 0)
  mostInFlight = 0
})

function serve(req: IncomingMessage, res: ServerResponse): void {
  inFlight += 1
  mostInFlight = Math.max(mostInFlight, inFlight)
  res.once('close', () => (inFlight -= 1))
  if (req.url === '/held') held.push(res)
  // Waits one turn of the event loop, in which the next request could overtake this one.
  else req.resume().once('end', () => setImmediate(() => res.end(`<${req.url ?? ''}>`)))
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: ${service.port}-i1.x\r\n\r\n`
const heldRequest = async (): Promise<RawClient> => {
  const client = new RawClient(proxy.port)
  client.socket.write(get('/held'))
  await until('the request', () => held.length === 1)
  return client
}

it('serves 1,000 pipelined requests in order, with one connection to the service at a time', async () => {
  using client = new RawClient(proxy.port)
  const paths = Array.from({ length: 1000 }, (_, i) => `/${i}`)
  client.socket.write(paths.map(get).join(''))
  await client.until('</999>')
  expect([...client.received.matchAll(/<(\/\d+)>/g)].map(([, path]) => path)).toEqual(paths)
  expect(mostInFlight).toBe(1)
})

it('reads at most the cap and one chunk ahead, and continues after answers', async () => {
  const { maxPipelined } = proxy.ctx.config
  using client = await heldRequest()
  const many = get('/next').repeat(1000)
  let sent = 0
  const more = (): void => {
    while (sent < 200_000 && client.socket.write(many)) sent += 1000
  }
  client.socket.on('drain', more)
  more()
  // The rest stays in the buffers of the client.
  await until('a client that is held', () => client.socket.writableNeedDrain && proxy.ctx.clients.counts.requests > maxPipelined)
  const before = proxy.ctx.clients.counts.requests
  expect(before).toBeLessThanOrEqual(1 + maxPipelined + (64 * 1024) / get('/next').length)
  for (let i = 0; i < 50; i++) await fetch(`${proxy.url}/health`).then((answer) => answer.text())
  expect(proxy.ctx.clients.counts.requests).toBe(before)
  client.socket.off('drain', more)
  held.shift()?.end('first')
  await until('the answers', () => client.received.split('</next>').length > before)
})

it('detects a client that disconnects while its requests wait', async () => {
  const client = await heldRequest()
  client.socket.write(get('/next').repeat(5))
  await until('the requests', () => proxy.ctx.clients.counts.requests === 6)
  client.socket.destroy()
  await until('the end in the service', () => inFlight === 0)
  held = []
})

it('switches protocols only after the earlier answers', async () => {
  using client = await heldRequest()
  client.socket.write(get('/next') + get('/up').replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n'))
  await until('the requests', () => proxy.ctx.clients.counts.requests === 3)
  held.shift()?.end('first')
  await client.until('switched')
  expect(client.received).toMatch(/first.*<\/next>.*HTTP\/1\.1 101 S.*switched$/s)
})

it('answers malformed bytes after the earlier requests', async () => {
  using client = await heldRequest()
  client.socket.write(`${get('/next')}nonsense\r\n\r\n`)
  await until('the requests', () => proxy.ctx.clients.counts.requests === 2)
  held.shift()?.end('first')
  expect(await client.closed()).toBe('end')
  expect(client.received).toMatch(/first.*<\/next>.*HTTP\/1\.1 400 Bad Request\r\n.*Bad request$/s)
})

it('answers a malformed body after the earlier requests, however long they take', async () => {
  await using impatient = await startProxy(routes, { bodyRestTimeoutMs: 20 })
  using client = new RawClient(impatient.port)
  client.socket.write(get('/held'))
  await until('the request', () => held.length === 1)
  client.send(['POST /next HTTP/1.1', `Host: ${service.port}-i1.x`, 'Transfer-Encoding: chunked'], 'no chunk\r\n')
  // Others, which are closed, show that the time has passed.
  for (let count = 0; count < 3; count += 1) {
    using other = new RawClient(impatient.port)
    other.send(['POST / HTTP/1.1', 'Host: 49983-inone.x', 'Content-Length: 5'])
    await other.closed()
  }
  held.shift()?.end('first')
  expect(await client.closed()).toBe('end')
  expect(client.received).toMatch(/first.*HTTP\/1\.1 400 Bad Request\r\n.*Bad request$/s)
})

it('serves pipelined requests with bodies', async () => {
  using client = new RawClient(proxy.port)
  const body = 'x'.repeat(100_000)
  const post = (path: string): string =>
    `POST ${path} HTTP/1.1\r\nHost: ${service.port}-i1.x\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  client.socket.write(['/1', '/2', '/3'].map(post).join('') + get('/4'))
  await client.until('</4>')
  expect([...client.received.matchAll(/<(\/\d)>/g)].map(([, path]) => path)).toEqual(['/1', '/2', '/3', '/4'])
  expect(mostInFlight).toBe(1)
})
