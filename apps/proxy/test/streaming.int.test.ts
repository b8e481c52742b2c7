import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { MemoryRoutes } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'
import { until } from './support/until.ts'

const LARGE = randomBytes(64 * 1024 * 1024)
const routes = new MemoryRoutes()
let proxy: RunningProxy
let service: RunningService
/** The action of the service for the next request; it stores request and answer for the test. */
let handle: (req: IncomingMessage, res: ServerResponse) => void = () => undefined
let seen: { req: IncomingMessage; res: ServerResponse }[] = []

beforeAll(async () => {
  service = await startService((req, res) => {
    seen.push({ req, res })
    handle(req, res)
  })
  proxy = await startProxy(routes)
  routes.run('i1', service.port)
  routes.run('i2', 9)
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})
afterEach(() => {
  handle = () => undefined
  for (const { req } of seen) req.socket.destroy()
  seen = []
})

/** Both ways to the service: as a user's port with new connections, and as the daemon with reused ones. */
const PORTS = [
  ['a user port', () => `${service.port}-i2.localhost`],
  ['the daemon', () => '49983-i1.localhost'],
] as const

async function open(lines: readonly string[], body = ''): Promise<{ client: RawClient; req: IncomingMessage; res: ServerResponse }> {
  const client = new RawClient(proxy.port)
  client.send(lines, body)
  await until('the request in the service', () => seen.length > 0)
  const [call] = seen
  if (call === undefined) throw new Error('unreachable')
  return { client, ...call }
}

describe.each(PORTS)('through %s', (_, host) => {
  it('forwards the first bytes of a request before its end, and the first bytes of its answer before the end of both', async () => {
    const { client, req, res } = await open([`POST /x HTTP/1.1`, `Host: ${host()}`, 'Transfer-Encoding: chunked'], '3\r\none\r\n')
    using _ = client
    let got = ''
    req.setEncoding('latin1').on('data', (text: string) => (got += text))
    await until('the first chunk', () => got === 'one')
    res.writeHead(200, { 'x-early': '1' }).flushHeaders()
    await client.until('x-early: 1')
    res.write('first')
    await client.until('5\r\nfirst\r\n')
    client.socket.write('3\r\ntwo\r\n')
    await until('the second chunk', () => got === 'onetwo')
    client.socket.write('0\r\nX-Sum: 7\r\n\r\n')
    await until('the end', () => req.complete)
    expect(req.trailers).toEqual({ 'x-sum': '7' })
    res.addTrailers({ 'X-Answer-Sum': '8' })
    res.end('last')
    await client.until('4\r\nlast\r\n0\r\nX-Answer-Sum: 8\r\n\r\n')
    expect(client.received).not.toContain('content-encoding')
  })

  it('forwards a head before its body', async () => {
    const { client } = await open(['POST /x HTTP/1.1', `Host: ${host()}`, 'Content-Length: 5'])
    client[Symbol.dispose]()
  })

  it('closes the connection to the service when the client disconnects, during the request or the answer', async () => {
    for (const body of ['', 'x']) {
      seen = []
      const { client, req, res } = await open(['POST /x HTTP/1.1', `Host: ${host()}`, `Content-Length: ${body === '' ? 0 : 5}`], body)
      req.resume()
      if (body === '') {
        res.write('begun')
        await client.until('begun')
      }
      const closed = new Promise((resolve) => res.once('close', resolve))
      client.socket.destroy()
      await closed
      expect(res.writableFinished).toBe(false)
    }
    await until('no open connection', () => proxy.ctx.tracker.count === 0)
  })

  it('leaves the answer without an end when the service breaks off', async () => {
    const { client, res } = await open(['GET /x HTTP/1.1', `Host: ${host()}`])
    using _ = client
    res.write('begun')
    await client.until('begun')
    res.destroy()
    await client.closed()
    expect(client.received).not.toContain('\r\n0\r\n')
  })

  it('resets the connection of an HTTP/1.0 client when the service breaks off', async () => {
    const { client, res } = await open(['GET /x HTTP/1.0', `Host: ${host()}`])
    using _ = client
    res.write('begun')
    await client.until('begun')
    res.destroy()
    expect(await client.closed()).toBe('reset')
  })

  it('ends a request that is still being sent when its answer is complete', async () => {
    const { client, res } = await open(['POST /x HTTP/1.1', `Host: ${host()}`, 'Content-Length: 100'], 'x'.repeat(50))
    using _ = client
    res.writeHead(413, { 'content-length': 3 }).end('big')
    await client.until('big')
    client.socket.write('x'.repeat(50))
    client.send(['GET /next HTTP/1.1', `Host: ${host()}`])
    await until('the next request', () => seen.length === 2)
    expect(seen[1]?.req.url).toBe('/next')
  })

  it('sends 100 Continue only when the service does', async () => {
    service.server.once('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
      seen.push({ req, res })
    })
    const { client, req, res } = await open(['POST /x HTTP/1.1', `Host: ${host()}`, 'Content-Length: 2', 'Expect: 100-continue'])
    using _ = client
    expect(client.received).toBe('')
    res.writeContinue()
    await client.until('HTTP/1.1 100 Continue\r\n\r\n')
    client.socket.write('ok')
    let got = ''
    for await (const text of req.setEncoding('latin1')) got += String(text)
    res.end(got)
    await client.until('\r\n\r\nok')
  })

  it('forwards interim answers', async () => {
    handle = (_, res) => {
      res.writeEarlyHints({ link: '</style.css>; rel=preload' }, () => res.end('done'))
    }
    const { client } = await open(['GET /x HTTP/1.1', `Host: ${host()}`])
    using _ = client
    await client.until('done')
    expect(client.received).toMatch(/^HTTP\/1\.1 103 Early Hints\r\nlink: <\/style\.css>; rel=preload\r\n\r\nHTTP\/1\.1 200 OK\r\n/i)
  })

  it.each<[string, number, Record<string, string>]>([
    ['HEAD', 200, { 'content-length': '5' }],
    ['HEAD', 200, { 'transfer-encoding': 'chunked', trailer: 'x-sum' }],
    ['GET', 204, {}],
    ['GET', 304, { 'content-length': '5', etag: '"e"' }],
  ])('forwards an answer without a body: %s %i %j', async (method, status, headers) => {
    handle = (_, res) => void res.writeHead(status, headers).end()
    const { client } = await open([`${method} /x HTTP/1.1`, `Host: ${host()}`])
    using _ = client
    await client.until('\r\n\r\n')
    const answer = client.received.toLowerCase()
    expect(answer).toMatch(new RegExp(`^http/1.1 ${status} .*\r\n\r\n$`, 's'))
    expect(answer).not.toMatch(/transfer-encoding/)
    if (headers['content-length'] !== undefined) expect(answer).toContain(`content-length: ${headers['content-length']}`)
    handle = (_, res) => void res.end('next')
    client.send(['GET /y HTTP/1.1', `Host: ${host()}`, 'Connection: close'])
    await client.until('next')
  })

  it.each([['Transfer-Encoding', 'chunked'] as const, ['Content-Length', String(LARGE.length)] as const])(
    'forwards a large body unchanged, in both directions at once: %s',
    async (name, value) => {
      handle = (req, res) => void req.pipe(res)
      const call = request({ port: proxy.port, host: '127.0.0.1', method: 'POST', headers: { host: host(), [name]: value } })
      const hash = createHash('sha256')
      const answered = once(call, 'response').then(([answer]) => pipeline(answer as IncomingMessage, hash))
      await Promise.all([pipeline(Readable.from(pieces(LARGE)), call), answered])
      expect(hash.digest('hex')).toBe(createHash('sha256').update(LARGE).digest('hex'))
    },
  )

  it('applies back-pressure to a service that is faster than its client', async () => {
    const sent = { bytes: 0 }
    handle = (_, res) => sendForever(res, sent)
    const { client } = await open(['GET /x HTTP/1.1', `Host: ${host()}`])
    using _ = client
    client.socket.pause()
    // The buffers of the kernel and the streams, not everything that the service could have sent.
    expect(await standstill(sent)).toBeLessThan(FOREVER / 4)
  })

  it('applies back-pressure to a client that is faster than its service', async () => {
    const sent = { bytes: 0 }
    const { client, req } = await open(['POST /x HTTP/1.1', `Host: ${host()}`, `Content-Length: ${FOREVER}`])
    using _ = client
    req.pause()
    sendForever(client.socket, sent)
    expect(await standstill(sent)).toBeLessThan(FOREVER / 4)
  })
})

it('sends an answer to a client that reads it after the service has closed the connection', async () => {
  handle = (_, res) => void res.end('done')
  const accepted = once(proxy.server.http, 'connection') as Promise<[Socket]>
  using client = new RawClient(proxy.port)
  client.socket.pause()
  const [socket] = await accepted
  // More than the kernel holds for a client that does not read, so that the answer waits in the proxy.
  socket.write(Buffer.alloc(32 * 1024 * 1024, '.'))
  client.send(['GET /x HTTP/1.1', `Host: ${service.port}-i2.localhost`, 'Connection: close'])
  await until('the end of the connection to the service', () => seen[0]?.req.socket.destroyed === true)
  client.socket.resume()
  expect(await client.closed()).toBe('end')
  expect(client.received.slice(-100)).toMatch(/\r\n\r\n.*done/s)
})

it('drains the rest of a request with an early answer, and serves the next request', async () => {
  handle = (req, res) => {
    if (req.method === 'POST') req.pause()
    res.end(req.method)
  }
  using agent = keepAliveAgent()
  for (const method of ['POST', 'GET']) {
    const call = request(proxy.url, { agent, method, headers: { host: '49983-i1.localhost' }, timeout: 20_000 })
    call.on('timeout', () => call.destroy(new Error(`${method} was silent`)))
    const answered = once(call, 'response') as Promise<[IncomingMessage]>
    const sent = once(call.end(method === 'POST' ? LARGE : undefined), 'close')
    const [answer] = await answered
    expect((await answer.setEncoding('utf8').toArray()).join('')).toBe(method)
    await sent
  }
})

/** Parts of many sizes, smaller and larger than the chunks of the kernel and the parser. */
function* pieces(data: Buffer): Generator<Buffer> {
  const sizes = [1, 100, 16_383, 16_384, 65_535, 65_536, 65_537, 1_000_000]
  for (let at = 0, i = 0; at < data.length; i++) {
    const end = Math.min(at + (sizes[i % sizes.length] ?? 1), data.length)
    yield data.subarray(at, end)
    at = end
  }
}

function keepAliveAgent(): Agent & Disposable {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return Object.assign(agent, { [Symbol.dispose]: () => agent.destroy() })
}

const FOREVER = 256 * 1024 * 1024

function sendForever(stream: Writable, sent: { bytes: number }): void {
  const chunk = Buffer.alloc(256 * 1024)
  const more = (): void => {
    let mayGoOn = true
    while (mayGoOn && sent.bytes < FOREVER) {
      mayGoOn = stream.write(chunk)
      sent.bytes += chunk.length
    }
  }
  stream.on('drain', more)
  more()
}

/** The number of sent bytes when it no longer grows while the proxy serves many other requests. */
async function standstill(sent: { bytes: number }): Promise<number> {
  while (true) {
    const before = sent.bytes
    for (let i = 0; i < 50; i++) await fetch(`${proxy.url}/health`).then((answer) => answer.text())
    if (before > 0 && sent.bytes === before) return before
  }
}
