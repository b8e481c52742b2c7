import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MemoryRoutes } from './support/memory-routes.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'
import { until } from './support/until.ts'

/** More than the buffers of all sockets between the service and its client. */
const SIZE = 24 * 1024 * 1024
const routes = new MemoryRoutes()
const agent = new Agent({ keepAlive: true })
let proxy: RunningProxy
let service: RunningService
/** Ids of the downloads that wait for their clients. */
const blocked = new Set<string>()

beforeAll(async () => {
  service = await startService((req, res) => void send(req, res).catch(() => res.destroy()))
  service.server.on('upgrade', (_, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    void write(socket, 'upgrade').then(() => socket.end())
  })
  proxy = await startProxy(routes)
  routes.run('i1', service.port)
})
afterAll(async () => {
  agent.destroy()
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

/** Bytes that tell the download and the place. */
function contentOf(id: string): Buffer {
  const content = Buffer.alloc(SIZE)
  const salt = createHash('sha256').update(id).digest().readUInt32LE(0)
  for (let at = 0; at < SIZE; at += 4) content.writeUInt32LE((salt + at) >>> 0, at)
  return content
}

async function send(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const [, framing = '', id = ''] = req.url?.split('/') ?? []
  if (framing === 'length') res.setHeader('Content-Length', SIZE)
  if (framing === 'until-close') res.useChunkedEncodingByDefault = false
  await write(res, id)
  res.end()
}

async function write(to: Writable, id: string): Promise<void> {
  const content = contentOf(id)
  for (let at = 0, piece = 1; at < SIZE; at += piece, piece = Math.min(SIZE - at, (piece * 7 + 3) % 700_001)) {
    if (to.write(content.subarray(at, at + piece))) continue
    blocked.add(id)
    await once(to, 'drain')
  }
}

/** Reads nothing before the service is blocked, if `isSlow`. */
async function read(from: Readable, id: string, isSlow: boolean): Promise<boolean> {
  if (isSlow) await until('a blocked service', () => blocked.has(id))
  const parts: Buffer[] = []
  for await (const bytes of from) parts.push(bytes as Buffer)
  return Buffer.concat(parts).equals(contentOf(id))
}

async function download(framing: string, id: string, { isSlow, isByNode }: { isSlow: boolean; isByNode: boolean }): Promise<boolean> {
  const headers = { Host: '49983-i1.localhost', ...(isByNode && { 'Keep-Alive': '1' }) }
  const sent = request({ port: proxy.port, host: '127.0.0.1', path: `/${framing}/${id}`, agent, headers }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return await read(answer, id, isSlow)
}

it.each(['length', 'chunked', 'until-close'])(
  'keeps every byte of concurrent answers (%s) to slow and fast clients',
  { timeout: 60_000 },
  async (framing) => {
    const kinds = [true, false].flatMap((isSlow) => [true, false].map((isByNode) => ({ isSlow, isByNode })))
    const downloads = kinds.map((kind, index) => download(framing, `${framing}-${index}`, kind))
    expect(await Promise.all(downloads)).toEqual([true, true, true, true])
  },
)

it('keeps every byte of an upgraded connection to the port of the daemon', { timeout: 60_000 }, async () => {
  const socket = connect({ port: proxy.port, host: '127.0.0.1' })
  socket.write('GET /x HTTP/1.1\r\nHost: 49983-i1.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  await until('a blocked service', () => blocked.has('upgrade'))
  const parts: Buffer[] = []
  for await (const bytes of socket) parts.push(bytes as Buffer)
  const all = Buffer.concat(parts)
  expect(all.subarray(all.indexOf('\r\n\r\n') + 4).equals(contentOf('upgrade'))).toBe(true)
})
