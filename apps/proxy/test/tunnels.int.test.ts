import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { sandboxTunnelSecret } from '@sandyard/db/sandbox-token'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { MemoryRoutes, TOKEN_SEED } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { SANDBOX_HOST, startSandbox, type StandInSandbox } from './support/start-sandbox.ts'
import { startService, type RunningService } from './support/start-service.ts'
import { until } from './support/until.ts'

const routes = new MemoryRoutes()
let proxy: RunningProxy
let sandbox: StandInSandbox
let service: RunningService

beforeAll(async () => {
  service = await startService((req, res) => void serve(req, res))
  sandbox = await startSandbox()
  proxy = await startProxy(routes)
})
async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const body = await text(req)
  res.setHeader('X-Seen', JSON.stringify(req.headers)).write(`${req.method} ${req.url} ${body}`)
  if (req.url !== '/open') res.end()
}
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await sandbox[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})
beforeEach(() => {
  sandbox.answer = undefined
  sandbox.asked.length = 0
  routes.run('i1', sandbox.daemonPort, SANDBOX_HOST)
})
afterEach(() => until('no open connection', () => proxy.ctx.tracker.count === 0))

const address = (port = service.port) => ({ 'e2b-sandbox-id': 'i1', 'e2b-sandbox-port': String(port) })
const ask = (path = '/', port?: number, init: RequestInit = {}) => fetch(proxy.url + path, { ...init, headers: address(port) })
const closed = (port: number) => `{"sandboxId":"i1","message":"The sandbox is running but port is not open","port":${port},"code":502}`

describe('a server on localhost', () => {
  it('is reached through the daemon with the secret of the sandbox, which is hidden from the service', async () => {
    const answer = await ask('/a?b', undefined, { method: 'POST', body: 'hällo' })
    expect([answer.status, await answer.text()]).toEqual([200, 'POST /a?b hällo'])
    expect(sandbox.asked).toEqual([`Bearer ${sandboxTunnelSecret(TOKEN_SEED, 'i1')}`])
    expect(answer.headers.get('x-seen')).not.toMatch(/proxy-authorization|bearer/i)
  })

  it('carries WebSockets', async () => {
    const sockets = new WebSocketServer({ server: service.server, path: '/ws' })
    sockets.on('connection', (client) => client.on('message', (data) => client.send(data as Buffer)))
    const socket = new WebSocket(`${proxy.url}/ws`, { headers: address() })
    await once(socket, 'open')
    const large = Buffer.alloc(1_000_000, 7)
    socket.send(large)
    const [echoed] = (await once(socket, 'message')) as [Buffer]
    expect(echoed.equals(large)).toBe(true)
    socket.terminate()
    sockets.close()
  })

  it('may answer before it has read the request', async () => {
    const early = createServer((socket) => void socket.resume().end('HTTP/1.1 503 Full\r\nContent-Length: 4\r\n\r\nfull'))
    await new Promise<void>((resolve) => early.listen(0, '127.0.0.1', resolve))
    const answer = await ask('/', (early.address() as AddressInfo).port)
    expect([answer.status, await answer.text()]).toEqual([503, 'full'])
    early.close()
  })

  it('loses its tunnel when the client disconnects, and when the sandbox ends', async () => {
    for (const leave of [(client: RawClient) => void client.socket.destroy(), () => routes.remove('i1')]) {
      const client = new RawClient(proxy.port)
      client.send(['GET /open HTTP/1.1', 'Host: localhost', ...Object.entries(address()).map(([name, value]) => `${name}: ${value}`)])
      await client.until('GET /open')
      const connection = service.accepted.at(-1) as Socket
      leave(client)
      await until('the end in the service', () => connection.destroyed)
      client.socket.destroy()
    }
  })
})

describe('a port without a tunnel', () => {
  it('gets no request for a tunnel when it is open on the address of the sandbox (envd.md 9)', async () => {
    const everywhere = createServer((socket) => void socket.resume().end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
    await new Promise<void>((resolve) => everywhere.listen(0, '0.0.0.0', resolve))
    expect(await (await ask('/', (everywhere.address() as AddressInfo).port)).text()).toBe('ok')
    expect(sandbox.asked).toEqual([])
    everywhere.close()
  })

  it('is never opened for the port of the daemon', async () => {
    expect(await (await ask('/', 49_983)).text()).toBe('daemon')
    expect(await (await ask('/', sandbox.daemonPort)).text()).toBe(closed(sandbox.daemonPort))
    expect(sandbox.asked).toEqual([])
  })

  it.each([
    ['nothing listens', 'HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n'],
    ['the daemon rejects the secret', 'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n'],
    ['the daemon has no tunnels', ''],
    ['the daemon does not answer in HTTP', 'tunnel\r\n\r\n'],
  ])('is answered as closed: %s (control-plane.md 19.3)', async (_, answer) => {
    sandbox.answer = answer
    const response = await ask()
    expect([response.status, await response.text()]).toEqual([502, closed(service.port)])
    sandbox.answer = undefined
    expect((await ask()).status).toBe(200)
  })

  it('is retried while its server starts', async () => {
    const { port } = await startService(() => undefined).then(async (gone) => {
      await gone[Symbol.asyncDispose]()
      return gone
    })
    const asking = ask('/', port)
    await until('an attempt', () => sandbox.asked.length > 0)
    const late = createServer((socket) => void socket.resume().end('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate'))
    await new Promise<void>((resolve) => late.listen(port, '127.0.0.1', resolve))
    expect(await (await asking).text()).toBe('late')
    late.close()
  })

  it.each(['localhost', '49983-i1.x'])('is not opened by a CONNECT of a client, at %s', async (host) => {
    using client = new RawClient(proxy.port)
    const lines = Object.entries(address(49_983)).map(([name, value]) => `${name}: ${value}`)
    client.send([`CONNECT localhost:${service.port} HTTP/1.1`, `Host: ${host}`, ...lines])
    expect(await client.closed()).toBe('end')
    expect(client.received).toMatch(/^HTTP\/1\.1 405 /)
    expect(sandbox.asked).toEqual([])
  })
})
