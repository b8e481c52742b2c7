import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MemoryRoutes, type Row } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { startDeafListener } from './support/start-deaf-listener.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'
import { until } from './support/until.ts'

const routes = new MemoryRoutes()
let proxy: RunningProxy
let service: RunningService
let running: Row
const host = 'Host: 49983-i1.x'

beforeAll(async () => {
  service = await startService((req: IncomingMessage, res: ServerResponse) => {
    if (req.url === '/silent') return
    if (req.url === '/stream') res.write('begun')
    else res.end('done')
  })
  service.server.on('upgrade', (_, socket) =>
    socket.on('error', () => undefined).write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\nbegun'),
  )
  proxy = await startProxy(routes)
  running = { sandboxId: 'i1', incarnation: 1, state: 'running', endpoint: { host: '127.0.0.1', daemonPort: service.port } }
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})
beforeEach(() => routes.put(running))
afterEach(() => until('no open connection', () => proxy.ctx.tracker.count === 0))

async function stream(): Promise<RawClient> {
  const client = new RawClient(proxy.port)
  client.send(['GET /stream HTTP/1.1', host])
  await client.until('begun')
  return client
}

describe('open streams', () => {
  const ends: [string, () => void][] = [
    ['was removed', () => routes.remove('i1')],
    ['is being killed', () => routes.put({ ...running, state: 'killing' })],
    ['is being paused', () => routes.put({ ...running, state: 'pausing' })],
    ['was started again', () => routes.put({ ...running, incarnation: 2 })],
    ['was paused and resumed before the proxy could look', () => routes.put({ ...running, startedAt: 2 })],
    ['has moved', () => routes.put({ ...running, endpoint: { host: '127.0.0.9', daemonPort: service.port } })],
  ]

  it.each(ends)('are reset, not ended in order, when their sandbox %s', async (_, end) => {
    using client = await stream()
    end()
    expect(await client.closed()).toBe('reset')
    expect(client.received).not.toContain('\r\n0\r\n')
  })

  it.each(ends)('are reset when an upgraded sandbox %s', async (_, end) => {
    using client = new RawClient(proxy.port)
    client.send(['GET /up HTTP/1.1', host, 'Connection: Upgrade', 'Upgrade: raw'])
    await client.until('begun')
    end()
    expect(await client.closed()).toBe('reset')
  })

  it('continue when a change keeps their sandbox running, and during a snapshot', async () => {
    using client = await stream()
    routes.put(running)
    routes.put({ ...running, state: 'snapshotting' })
    await proxy.ctx.tracker.recheck()
    expect([client.outcome, proxy.ctx.tracker.count]).toEqual([undefined, 1])
  })

  it('are reset after a change whose notification was lost', async () => {
    routes.isSilent = true
    try {
      using client = await stream()
      routes.remove('i1')
      routes.refresh()
      expect(await client.closed()).toBe('reset')
    } finally {
      routes.isSilent = false
    }
  })

  it('of other sandboxes stay open', async () => {
    routes.put({ ...running, sandboxId: 'i2' })
    using one = await stream()
    using other = new RawClient(proxy.port)
    other.send(['GET /stream HTTP/1.1', 'Host: 49983-i2.x'])
    await other.until('begun')
    routes.remove('i1')
    expect(await one.closed()).toBe('reset')
    expect(other.outcome).toBeUndefined()
  })

  it('do not delay other requests when there are a thousand, and all end with their sandbox', async () => {
    const clients = await Promise.all(Array.from({ length: 1000 }, () => stream()))
    expect(proxy.ctx.tracker.count).toBe(1000)
    for (let i = 0; i < 20; i++) {
      using quick = new RawClient(proxy.port)
      quick.send(['GET /quick HTTP/1.1', host, 'Connection: close'])
      expect(await quick.closed()).toBe('end')
      expect(quick.received).toContain('done')
    }
    routes.remove('i1')
    for (const client of clients) expect(await client.closed()).toBe('reset')
  })
})

describe('a request that waits for its answer', () => {
  it('gets "not found" when the sandbox ends', async () => {
    using client = new RawClient(proxy.port)
    client.send(['GET /silent HTTP/1.1', host])
    await until('the request', () => proxy.ctx.tracker.count === 1)
    routes.remove('i1')
    await client.until('{"sandboxId":"i1","message":"The sandbox was not found","code":502}')
  })

  it('gets "not found" at once during an unanswered connection attempt', async () => {
    await using deaf = await startDeafListener()
    routes.put({ ...running, endpoint: { host: '127.0.0.1', daemonPort: deaf.port } })
    using client = new RawClient(proxy.port)
    client.send(['GET / HTTP/1.1', host])
    await until('the attempt', () => proxy.ctx.tracker.count === 1)
    routes.remove('i1')
    await client.until('{"sandboxId":"i1","message":"The sandbox was not found","code":502}')
  })

  it('gets "not found" when the sandbox ended without a notification', async () => {
    const gone = createTcpServer()
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve))
    const { port } = gone.address() as AddressInfo
    await new Promise((resolve) => gone.close(resolve))
    routes.put({ ...running, endpoint: { host: '127.0.0.1', daemonPort: port } })
    await proxy.ctx.catalog.find('i1')
    routes.isSilent = true
    routes.remove('i1')
    routes.isSilent = false
    using client = new RawClient(proxy.port)
    client.send(['GET / HTTP/1.1', host])
    await client.until('{"sandboxId":"i1","message":"The sandbox was not found","code":502}')
  })
})

describe('idle connections to the daemon', () => {
  const acceptedBy = async (requests: number): Promise<number> => {
    const before = service.accepted.length
    for (let i = 0; i < requests; i++) expect(await get('/')).toContain('done')
    return service.accepted.length - before
  }

  async function get(path: string): Promise<string> {
    using client = new RawClient(proxy.port)
    client.send([`GET ${path} HTTP/1.1`, host, 'Connection: close'])
    await client.closed()
    return client.received
  }

  it('are reused, and dropped at a change', async () => {
    await acceptedBy(1)
    expect(await acceptedBy(5)).toBe(0)
    routes.put({ ...running, incarnation: 2 })
    expect(await acceptedBy(1)).toBe(1)
  })

  it('that closed while idle never fail a request', async () => {
    await acceptedBy(1)
    for (let i = 0; i < 20; i++) {
      for (const socket of service.accepted) socket.destroy()
      expect(await get('/')).toContain('done')
    }
  })

  it('that close during a request cause a second attempt when the method is safe', async () => {
    const seen: string[] = []
    const sockets = new Set<Socket>()
    // Breaks each connection at its second request.
    const fickle = createTcpServer((socket) => {
      let requests = 0
      sockets.add(socket)
      socket.setEncoding('latin1').on('data', (text: string) => {
        seen.push(text.slice(0, text.indexOf(' ')))
        requests += 1
        if (requests === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone')
        else socket.resetAndDestroy()
      })
    })
    await new Promise<void>((resolve) => fickle.listen(0, '127.0.0.1', resolve))
    routes.put({ ...running, endpoint: { host: '127.0.0.1', daemonPort: (fickle.address() as AddressInfo).port } })
    expect(await get('/1')).toContain('done')
    expect(await get('/2')).toContain('done')
    using client = new RawClient(proxy.port)
    client.send(['GET /3 HTTP/1.1', host])
    await client.until('done')
    client.send(['POST /4 HTTP/1.1', host, 'Content-Length: 1', 'Connection: close'], 'x')
    await client.closed()
    expect(client.received).toContain('502 Bad Gateway')
    expect(seen.filter((method) => method === 'POST').length).toBe(1)
    for (const socket of sockets) socket.destroy()
    fickle.close()
  })
})

it('resets open requests when it stops', async () => {
  const own = new MemoryRoutes()
  own.put(running)
  const stopping = await startProxy(own)
  using client = new RawClient(stopping.port)
  client.send(['GET /stream HTTP/1.1', host])
  await client.until('begun')
  await stopping[Symbol.asyncDispose]()
  expect(await client.closed()).toBe('reset')
})
