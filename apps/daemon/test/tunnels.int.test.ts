import { once } from 'node:events'
import type { Socket } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDaemon, type TestDaemon } from './support/test-daemon.ts'
import { askForTunnel, bearer, SECRET, startLocalServer, startTunnelDaemon, tunnelStatus } from './support/tunnel.ts'

const echo = (socket: Socket): void => void socket.pipe(socket)
let daemon: TestDaemon

beforeAll(async () => {
  daemon = await startTunnelDaemon()
})
afterAll(() => daemon[Symbol.asyncDispose]())

async function openTunnel(port: number): Promise<Socket> {
  const { status, socket } = await askForTunnel(daemon.url, { target: `localhost:${port}` })
  expect(status).toBe(200)
  return socket
}

async function accepted(port: number, connections: Socket[]): Promise<{ near: Socket; far: Socket }> {
  const near = await openTunnel(port)
  const far = connections.at(-1)
  if (far === undefined) throw new Error('nothing was accepted')
  return { near, far }
}

describe('a tunnel', () => {
  it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1', 'localhost', '0.0.0.0', '::'])(
    'reaches a server on %s while it listens, and after its restart (envd.md 18.84)',
    async (host) => {
      const { port } = await (async () => {
        await using server = await startLocalServer({ host, port: 0 }, echo)
        const socket = await openTunnel(server.port)
        socket.end('hello')
        expect(await text(socket)).toBe('hello')
        return server
      })()
      expect(await tunnelStatus(daemon.url, { target: `localhost:${port}` })).toBe(502)
      await using again = await startLocalServer({ host, port }, echo)
      const socket = await openTunnel(again.port)
      socket.end('hello again')
      expect(await text(socket)).toBe('hello again')
    },
  )

  it('holds no port: while it is open, a server may move to all addresses (envd.md 18.84)', async () => {
    const local = await startLocalServer({ host: '127.0.0.1', port: 0 }, echo)
    const socket = await openTunnel(local.port)
    await local[Symbol.asyncDispose]()
    await using everywhere = await startLocalServer({ host: '0.0.0.0', port: local.port }, echo)
    expect(everywhere.port).toBe(local.port)
    expect(await text(socket)).toBe('')
    socket.destroy()
  })

  it('transfers large data completely and ends each direction separately', async () => {
    const large = Buffer.alloc(16_000_000, 'sandyard ')
    await using server = await startLocalServer({ host: '127.0.0.1', port: 0 }, (socket) => {
      // The server answers at the end of the request.
      buffer(socket).then(
        (received) => socket.end(received),
        () => undefined,
      )
    })
    const socket = await openTunnel(server.port)
    socket.end(large)
    expect((await buffer(socket)).equals(large)).toBe(true)
  })

  it('applies back-pressure to a sender that is faster than the reader', async () => {
    const connections: Socket[] = []
    await using server = await startLocalServer({ host: '127.0.0.1', port: 0 }, (socket) => connections.push(socket.pause()))
    const { near, far } = await accepted(server.port, connections)
    const chunk = Buffer.alloc(1_000_000)
    // More than the kernel and the daemon buffer for a client that does not read.
    for (let sent = 0; sent < 64; sent++) near.write(chunk)
    far.once('readable', () => undefined)
    await once(far, 'readable')
    expect(near.writableLength).toBeGreaterThan(30_000_000)
    near.end()
    let bytes = 0
    for await (const part of far as AsyncIterable<Buffer>) bytes += part.length
    expect(bytes).toBe(64_000_000)
  })

  it('forwards a reset from either side', async () => {
    const connections: Socket[] = []
    await using server = await startLocalServer({ host: '127.0.0.1', port: 0 }, (socket) => connections.push(socket.resume()))
    for (const broken of ['near', 'far'] as const) {
      const pair = await accepted(server.port, connections)
      const other = broken === 'near' ? pair.far : pair.near.resume()
      const failed = new Promise<NodeJS.ErrnoException>((resolve) => other.once('error', resolve))
      pair[broken].resetAndDestroy()
      expect((await failed).code).toBe('ECONNRESET')
    }
  })

  it('does not keep the daemon from exiting', async () => {
    const ending = await startTunnelDaemon()
    await using server = await startLocalServer({ host: '127.0.0.1', port: 0 }, (socket) => socket.resume())
    const { socket } = await askForTunnel(ending.url, { target: `localhost:${server.port}` })
    const closed = new Promise((resolve) => socket.resume().once('close', resolve))
    await ending[Symbol.asyncDispose]()
    await closed
  })
})

describe('a tunnel is refused', () => {
  const own = () => new URL(daemon.url).port

  it.each([
    ['without a secret', {}],
    ['with a wrong secret', bearer('0'.repeat(64))],
    ['with another form of credentials', { 'Proxy-Authorization': `Basic ${SECRET}` }],
    ['with the secret where clients put theirs', { Authorization: `Bearer ${SECRET}`, 'X-Access-Token': SECRET }],
  ])('%s', async (_, headers) => {
    await using server = await startLocalServer({ host: '127.0.0.1', port: 0 }, echo)
    const target = `localhost:${server.port}`
    expect(await tunnelStatus(daemon.url, { target, headers })).toBe(407)
    expect(await tunnelStatus(daemon.url, { target })).toBe(200)
  })

  it.each(['localhost:0', 'localhost:65536', 'localhost:080', 'localhost:', 'localhost', '127.0.0.1:80', 'example.com:80', '/'])(
    'to %s',
    async (target) => expect(await tunnelStatus(daemon.url, { target })).toBe(403),
  )

  it('to the daemon itself, whose routes the proxy protects (envd.md 18.13)', async () => {
    expect(await tunnelStatus(daemon.url, { target: `localhost:${own()}` })).toBe(403)
  })

  it('without a secret from the platform', async () => {
    await using alone = await startDaemon()
    await expect(tunnelStatus(alone.url, { target: 'localhost:80' })).rejects.toThrow('socket hang up')
    expect((await fetch(`${alone.url}/health`)).status).toBe(204)
  })
})
