import { once } from 'node:events'
import { Agent, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MemoryRoutes } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'
import { until } from './support/until.ts'

const MIB = 1024 ** 2
const CLIENTS = 16
const ROUNDS = 16
const HOST = '49983-i1.localhost'
const routes = new MemoryRoutes()
const agent = new Agent({ keepAlive: true })
let proxy: RunningProxy
let service: RunningService
const held: ServerResponse[] = []

beforeAll(async () => {
  service = await startService((req, res) => {
    if (req.url === '/held') held.push(res.writeHead(200, { 'Content-Length': 1024 * MIB }))
    else res.end('done')
  })
  proxy = await startProxy(routes)
  routes.run('i1', service.port)
})
afterAll(async () => {
  agent.destroy()
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

/** Sends something to all clients, and waits until it has arrived in the proxy, which has answered a later request then. */
async function sendToAll(bytes: Buffer): Promise<void> {
  for (const res of held) res.write(bytes)
  const [answer] = (await once(request({ port: proxy.port, agent, headers: { Host: HOST } }).end(), 'response')) as [IncomingMessage]
  await once(answer.resume(), 'end')
}

it('clients that do not read hold one block of memory each, however many pieces arrive for them', { timeout: 60_000 }, async () => {
  const connections: Socket[] = []
  proxy.server.http.on('connection', (socket) => connections.push(socket))
  using opened = new DisposableStack()
  const clients = Array.from({ length: CLIENTS }, () => opened.use(new RawClient(proxy.port)))
  for (const client of clients) {
    client.socket.pause()
    client.send(['GET /held HTTP/1.1', `Host: ${HOST}`])
  }
  await until('the requests', () => held.length === CLIENTS)
  const waiting = connections.slice(0, CLIENTS)
  const before = process.memoryUsage().arrayBuffers
  // Large reads have large blocks.
  await sendToAll(Buffer.alloc(MIB))
  const piece = Buffer.alloc(8 * 1024)
  for (let rounds = 0; rounds < ROUNDS; rounds += 1) {
    do await sendToAll(piece)
    while (waiting.some((socket) => socket.writableLength === 0))
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(CLIENTS * 2 * MIB)
})
