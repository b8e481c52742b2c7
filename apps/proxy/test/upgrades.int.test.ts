import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { MemoryRoutes } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'
import { until } from './support/until.ts'

const routes = new MemoryRoutes()
let proxy: RunningProxy
let service: RunningService
let switched: { req: IncomingMessage; socket: Socket; head: string }[] = []
let requests: string[] = []
/** Answers of the service to an upgrade, by path. */
const answers: Record<string, string> = {
  '/raw': 'HTTP/1.1 101 Go On\r\nConnection: Upgrade\r\nUpgrade: raw\r\nX-Own: 1\r\n\r\nhello',
  '/refused': 'HTTP/1.1 403 No\r\nX-Own: 1\r\nContent-Length: 2\r\n\r\nno',
  '/chunked': 'HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n',
  '/rude': 'destroy',
  '/pending': '',
}

beforeAll(async () => {
  const sockets = new WebSocketServer({ noServer: true })
  service = await startService((req, res) => {
    requests.push(req.url ?? '')
    res.end('ordinary')
  })
  service.server.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) => {
    const answer = answers[req.url ?? '']
    if (answer === undefined) {
      sockets.handleUpgrade(req, socket, head, (client) => {
        client.on('message', (data, isBinary) => client.send(data as Buffer, { binary: isBinary }))
      })
      return
    }
    socket.on('error', () => undefined)
    switched.push({ req, socket, head: head.toString('latin1') })
    if (answer === 'destroy') socket.destroy()
    else socket.write(answer)
  })
  proxy = await startProxy(routes)
  routes.run('i1', 9)
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})
afterEach(async () => {
  for (const { socket } of switched) socket.destroy()
  switched = []
  requests = []
  await until('no open connection', () => proxy.ctx.tracker.count === 0)
})

const host = (): string => `Host: ${service.port}-i1.x`

function upgrade(path: string, body = ''): RawClient {
  const client = new RawClient(proxy.port)
  client.send([`GET ${path} HTTP/1.1`, host(), 'Connection: Upgrade', 'Upgrade: raw', 'X-Own: 2'], body)
  return client
}

async function switchedConnection(): Promise<{ client: RawClient; socket: Socket }> {
  const client = upgrade('/raw')
  await client.until('hello')
  const socket = switched.at(-1)?.socket
  if (socket === undefined) throw new Error('unreachable')
  return { client, socket }
}

describe('a connection that switches', () => {
  it('carries WebSockets', async () => {
    const socket = new WebSocket(proxy.url, { headers: { host: `${service.port}-i1.x` } })
    await once(socket, 'open')
    const large = Buffer.alloc(1_000_000, 7)
    for (const data of ['hällo', large]) {
      socket.send(data)
      const [answer] = (await once(socket, 'message')) as [Buffer]
      expect(answer.equals(Buffer.from(data))).toBe(true)
    }
    socket.close(4001, 'bye')
    const [code, reason] = (await once(socket, 'close')) as [number, Buffer]
    expect([code, reason.toString()]).toEqual([4001, 'bye'])
  })

  it('forwards the heads unchanged, and the bytes that arrive with them', async () => {
    using client = upgrade('/raw', 'early')
    await client.until('hello')
    expect(client.received).toBe(answers['/raw'])
    const [seen] = switched
    expect(seen?.req.headers).toMatchObject({ connection: 'Upgrade', upgrade: 'raw', 'x-own': '2' })
    let got = seen?.head ?? ''
    seen?.socket.on('data', (data: Buffer) => (got += data.toString('latin1')))
    await until('the early bytes', () => got === 'early')
  })

  it('forwards the end of one direction and keeps the other open', async () => {
    const { client, socket } = await switchedConnection()
    using _ = client
    socket.allowHalfOpen = true
    const ended = once(socket.resume(), 'end')
    client.socket.end('last words')
    await ended
    socket.end('and an answer')
    expect(await client.closed()).toBe('end')
    expect(client.received.endsWith('and an answer')).toBe(true)
  })

  it('ends with the service', async () => {
    const { client, socket } = await switchedConnection()
    using _ = client
    socket.resetAndDestroy()
    expect(await client.closed()).toBe('reset')
  })

  it('ends with the client, also before the switch', async () => {
    const { client, socket } = await switchedConnection()
    client.socket.resetAndDestroy()
    await until('the end in the service', () => socket.resume().closed)

    const impatient = upgrade('/pending')
    await until('the upgrade', () => switched.length === 2)
    impatient.socket.destroy()
    await until('its end in the service', () => switched[1]?.socket.resume().readableEnded === true)
  })
})

describe('a service that does not switch', () => {
  it.each([
    ['/refused', 'HTTP/1.1 403 No\r\nX-Own: 1\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno'],
    ['/chunked', 'HTTP/1.1 400 No\r\nConnection: close\r\n\r\nno'],
  ])('has its answer forwarded, and the connection is closed: %s', async (path, answer) => {
    // If the connection stayed open, the second request would reach the service unchecked.
    using client = upgrade(path, `GET /smuggled HTTP/1.1\r\n${host()}\r\n\r\n`)
    expect(await client.closed()).toBe('end')
    expect(client.received).toBe(answer)
    expect(requests).toEqual([])
  })

  it('and closes the connection causes an answer of the proxy', async () => {
    using client = upgrade('/rude')
    expect(await client.closed()).toBe('end')
    expect(client.received).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n.*closed the connection without an answer.*\}$/s)
  })

  it('because it does not exist causes an answer of the proxy', async () => {
    using client = new RawClient(proxy.port)
    client.send(['GET / HTTP/1.1', 'Host: 80-iunknown.x', 'Connection: Upgrade', 'Upgrade: websocket'])
    expect(await client.closed()).toBe('end')
    expect(client.received.endsWith('{"sandboxId":"iunknown","message":"The sandbox was not found","code":502}')).toBe(true)
  })
})

it.each([
  ['an offer of HTTP/2', ['GET /h2 HTTP/1.1', 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'], ''],
  ['an upgrade with a body', ['POST /body HTTP/1.1', 'Connection: Upgrade', 'Upgrade: tcp', 'Content-Length: 1'], 'x'],
])('%s is an ordinary request', async (_, lines, body) => {
  using client = new RawClient(proxy.port)
  client.send([...lines, host()], body)
  await client.until('ordinary')
  client.send(['GET /next HTTP/1.1', host(), 'Connection: close'])
  await client.closed()
  expect(requests.at(-1)).toBe('/next')
})
