import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { MemoryRoutes } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { until } from './support/until.ts'

const routes = new MemoryRoutes()
const MIB = 1024 ** 2
let proxy: RunningProxy
/** A proxy with caps that the tests do not reach. */
let openProxy: RunningProxy
let service: Server
let port: number
/** The action of the service on its connection when a request has arrived. */
let talk: (socket: Socket) => void = () => undefined
let sockets: Socket[] = []

beforeAll(async () => {
  service = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined).once('data', () => talk(socket))
  })
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  port = (service.address() as AddressInfo).port
  proxy = await startProxy(routes)
  openProxy = await startProxy(routes, { maxInterimAnswers: 1e9, maxInterimBytes: 1e9 })
  routes.run('i1', 9)
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await openProxy[Symbol.asyncDispose]()
  service.close()
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  sockets = []
  await until('no open connection', () => proxy.ctx.tracker.count + openProxy.ctx.tracker.count === 0)
})

const FINAL = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone'
const MIXED = [
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 102 Processing\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nTransfer-Encoding: chunked\r\nX-End: 2\r\n\r\n',
  'HTTP/1.1 110 Odd\r\nX-Odd: 1\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 5\r\n\r\n',
  'HTTP/1.1 199 Odd\r\n\r\n',
].join('')
const PASSED = 'HTTP/1.1 102 Processing\r\nX-End: 2\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'

async function ask(lines: readonly string[], to = proxy): Promise<RawClient> {
  const client = new RawClient(to.port)
  client.send([...lines, `Host: ${port}-i1.x`])
  await until('the request', () => sockets.length > 0)
  return client
}

describe('interim answers', () => {
  it('are forwarded when any client may receive them, without the headers of the connection', async () => {
    talk = (socket) => void socket.write(MIXED + FINAL)
    using client = await ask(['GET / HTTP/1.1'])
    await client.until('done')
    expect(client.received.startsWith(`${PASSED}HTTP/1.1 200 OK\r\n`)).toBe(true)
  })

  it('with status 100 are forwarded once, to a client that waits for it', async () => {
    talk = (socket) => {
      socket.once('data', () => socket.write(FINAL)).write(MIXED)
    }
    using client = await ask(['POST / HTTP/1.1', 'Content-Length: 2', 'Expect: 100-continue'])
    await client.until('103 Early Hints')
    client.socket.write('ok')
    await client.until('done')
    expect(client.received.startsWith(`HTTP/1.1 100 Continue\r\n\r\n${PASSED}HTTP/1.1 200 OK\r\n`)).toBe(true)
  })

  it('never reach a client of HTTP/1.0', async () => {
    talk = (socket) => void socket.write(MIXED + FINAL)
    using client = await ask(['GET / HTTP/1.0', 'Expect: 100-continue'])
    await client.until('done')
    expect(client.received).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  })

  it.each([
    ['number', 'HTTP/1.1 103 Early Hints\r\nX: 1\r\n\r\n', 1000],
    ['bytes', `HTTP/1.1 103 Early Hints\r\nX: ${'x'.repeat(32_000)}\r\n\r\n`, 256 * 1024],
    ['number of dropped ones', 'HTTP/1.1 110 Odd\r\n\r\n', 1000],
  ])('over the cap (%s) end the request', async (_, interim, limit) => {
    const before = await proxy.refusals('interim_answers')
    talk = (socket) => flood(socket, interim, { bytes: 0 })
    using client = await ask(['GET / HTTP/1.1'])
    await until('the end in the service', () => sockets[0]?.destroyed === true)
    await client.until(`"message":"The sandbox is running but the service sent too many interim answers (limit: ${limit})"`)
    expect(client.received).toMatch(/HTTP\/1\.1 502 Bad Gateway\r\nContent-Type: application\/json/)
    expect(await proxy.refusals('interim_answers')).toBe(before + 1)
  })

  it('over the cap end an upgrade', async () => {
    talk = (socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n', { bytes: 0 })
    using client = await ask(['GET / HTTP/1.1', 'Connection: Upgrade', 'Upgrade: raw'])
    expect(await client.closed()).toBe('end')
    expect(client.received).toMatch(/^HTTP\/1\.1 502 .*too many interim answers/s)
  })

  it('arrive at the pace of the client, and the answer after them', async () => {
    const sent = { bytes: 0 }
    talk = (socket) => flood(socket, `HTTP/1.1 103 Early Hints\r\nX: ${'x'.repeat(1000)}\r\n\r\n`, sent)
    using client = await ask(['GET / HTTP/1.1'], openProxy)
    client.socket.pause()
    let before = -1
    while (sent.bytes === 0 || sent.bytes !== before) {
      before = sent.bytes
      for (let i = 0; i < 50; i++) await fetch(`${openProxy.url}/health`).then((answer) => answer.text())
    }
    // The buffers of the kernel and the streams, not everything that the service could have sent.
    expect(before).toBeLessThan(FLOOD / 4)
    sockets[0]?.removeAllListeners('drain').write(FINAL)
    client.socket.resume()
    await client.until('done')
  })
})

const FLOOD = 200 * MIB

/** Writes `text` repeatedly, as fast as the other side reads it. */
function flood(socket: Socket, text: string, sent: { bytes: number }): void {
  const chunk = text.repeat(Math.ceil(65_536 / text.length))
  const more = (): void => {
    while (sent.bytes < FLOOD && !socket.destroyed) {
      sent.bytes += chunk.length
      if (!socket.write(chunk)) return
    }
  }
  socket.on('drain', more)
  more()
}
