import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MemoryRoutes } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'
import { until } from './support/until.ts'

const routes = new MemoryRoutes()
let proxy: RunningProxy
let service: RunningService
let held: ServerResponse[] = []

beforeAll(async () => {
  service = await startService((req, res) => void answer(req, res).catch(() => res.destroy()))
  proxy = await startProxy(routes)
  routes.run('i1', service.port)
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const body: Buffer[] = []
  for await (const bytes of req) body.push(bytes as Buffer)
  const text = Buffer.concat(body).toString('latin1')
  if (req.url === '/held') held.push(res)
  else if (req.url === '/bytes') {
    held.push(res)
    req.socket.write(
      'HTTP/1.1 200 F\xe4n\r\nX-Name: \xff\xc3\xa4\r\nX-Other: Connection\r\nConnection: close\r\nContent-Length: 4\r\n\r\n',
      'latin1',
    )
  } else if (req.url === '/early') res.end('early')
  else if (req.url === '/empty') res.writeHead(204).end()
  else if (req.url === '/unchanged') res.writeHead(304, { ETag: '"1"' }).end()
  else if (req.url === '/chunks') {
    res.write('one')
    res.write('two')
    res.end()
  } else if (req.url === '/trailers') {
    res.writeHead(200, { Trailer: 'X-Sum' })
    res.write('body')
    res.addTrailers({ 'X-Sum': '1' })
    res.end()
  } else if (req.url === '/until-close') {
    res.socket?.end('HTTP/1.1 200 OK\r\nX-A: b\r\n\r\nall of it')
  } else {
    const all = JSON.stringify({ method: req.method, url: req.url, headers: req.rawHeaders, text })
    res.writeHead(200, 'Fine', { 'Content-Length': all.length, 'X-Two': ['a', 'b'] }).end(all, 'latin1')
  }
}

/** The two ways take turns by a header that changes nothing for the service, but that only Node's HTTP server reads. */
const WAYS = [
  ['plain', []],
  ['by Node', ['Keep-Alive: 1']],
] as const

const host = 'Host: 49983-i1.localhost'

async function exchange(lines: readonly string[], body: string, end: string): Promise<string> {
  using client = new RawClient(proxy.port)
  client.send(lines, body)
  await client.until(end)
  return client.received.replace(/Date: .*\r\n/, '').replace(/X-Request-ID: .*\r\n/, '')
}

describe('a plain request gets the bytes that it gets from the HTTP server of Node', () => {
  it.each([
    ['with a length', ['GET /x?y=%20z HTTP/1.1', host, 'X-Odd:  spaced \t'], '', '"text":""}'],
    ['with a body', ['POST /x HTTP/1.1', host, 'Content-Length: 4', 'Connection: keep-alive'], 'b\xE4\xF6d', '"}'],
    [
      'with a body in chunks',
      ['POST /x HTTP/1.1', host, 'Transfer-Encoding: chunked'],
      '3;a=b\r\none\r\n1\r\n!\r\n0\r\nX-Sum: 1\r\n\r\n',
      '"text":"one!"}',
    ],
    ['that ends its connection', ['GET /x HTTP/1.1', host, 'Connection: close'], '', '"text":""}'],
    ['that ends its connection, in chunks', ['GET /chunks HTTP/1.1', host, 'connection: CLOSE'], '', '0\r\n\r\n'],
    ['without a body', ['GET /empty HTTP/1.1', host], '', '\r\n\r\n'],
    ['that is not modified', ['GET /unchanged HTTP/1.1', host], '', '\r\n\r\n'],
    ['in chunks', ['GET /chunks HTTP/1.1', host], '', '0\r\n\r\n'],
    ['with trailers', ['GET /trailers HTTP/1.1', host], '', 'X-Sum: 1\r\n\r\n'],
    ['until its connection closes', ['GET /until-close HTTP/1.1', host], '', '0\r\n\r\n'],
    ['for a sandbox that does not exist', ['GET /x HTTP/1.1', 'Host: 49983-i9.localhost'], '', '"code":502}'],
    ['for a reserved route', ['POST /init HTTP/1.1', host, 'Content-Length: 2'], '{}', '"code":404}'],
    ['for a wrong host', ['GET /x HTTP/1.1', 'Host: nothing'], '', 'Invalid host'],
    ['for the proxy itself', ['GET /health HTTP/1.1', 'Host: localhost'], '', '0\r\n\r\n'],
  ])('%s', async (_, lines, body, end) => {
    const [plain = '', byNode] = await Promise.all(WAYS.map(([, extra]) => exchange([...lines, ...extra], body, end)))
    expect(plain).toMatch(/^HTTP\/1\.1 \d{3} /)
    expect(plain).toBe(byNode)
  })
})

it.each(WAYS)('a head that arrives before its body keeps its bytes, %s', async (_, extra) => {
  held = []
  using client = new RawClient(proxy.port)
  client.send(['GET /bytes HTTP/1.1', host, ...extra])
  await client.until('\r\n\r\n')
  expect(client.received).toMatch(/^HTTP\/1\.1 200 F\xe4n\r\nX-Name: \xff\xc3\xa4\r\n/)
  held[0]?.req.socket.write('body')
  await client.until('\r\n\r\nbody')
})

it.each(WAYS)('the last answer of a connection says so, whatever headers it has, %s', async (_, extra) => {
  held = []
  await using closing = await startProxy(routes, { maxConnectionRequests: 1 })
  using client = new RawClient(closing.port)
  client.send(['GET /bytes HTTP/1.1', host, ...extra])
  await client.until('\r\n\r\n')
  expect(client.received).toContain('\r\nConnection: close\r\n')
  held[0]?.req.socket.write('body')
  expect(await client.closed()).toBe('end')
})

it.each(WAYS)('a connection that the client wants closed ends behind the answer, whatever follows the request, %s', async (_, extra) => {
  held = []
  using client = new RawClient(proxy.port)
  client.send(['GET /held HTTP/1.1', host, 'Connection: close', ...extra])
  await until('the request', () => held.length === 1)
  client.send(['GET /x HTTP/1.1', host])
  held[0]?.end('all')
  expect(await client.closed()).toBeDefined()
  expect(client.received.match(/HTTP\/1\.1/g)).toHaveLength(1)
  expect(client.received).toContain('\r\nConnection: close\r\n')
})

describe('a connection', () => {
  it('serves a plain request after another, then a request in chunks, then a plain one', async () => {
    using client = new RawClient(proxy.port)
    for (const path of ['/1', '/2']) {
      client.send([`GET ${path} HTTP/1.1`, host])
      await client.until(`"url":"${path}"`)
    }
    client.send(['POST /3 HTTP/1.1', host, 'Transfer-Encoding: chunked'], '3\r\nabc\r\n0\r\n\r\n')
    await client.until('"text":"abc"}')
    client.send(['GET /4 HTTP/1.1', host])
    await client.until('"url":"/4"')
    expect(client.received.match(/HTTP\/1\.1 200/g)).toHaveLength(4)
  })

  it('serves a request whose head arrives byte by byte', async () => {
    using client = new RawClient(proxy.port)
    client.socket.setNoDelay(true)
    for (const byte of `GET /slow HTTP/1.1\r\n${host}\r\n\r\n`) {
      client.socket.write(byte)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await client.until('"url":"/slow"')
  })

  it('sends the body of a request as it arrives, and serves the next request', async () => {
    using client = new RawClient(proxy.port)
    const mib = 'x'.repeat(1024 * 1024)
    client.send(['POST /large HTTP/1.1', host, `Content-Length: ${3 * mib.length}`], mib)
    client.socket.write(mib)
    client.socket.write(mib)
    await client.until('"}')
    expect(client.received.length).toBeGreaterThan(3 * mib.length)
    client.send(['GET /next HTTP/1.1', host])
    await client.until('"url":"/next"')
  })

  it('drops the rest of a body that is refused, and serves the next request', async () => {
    using client = new RawClient(proxy.port)
    client.send(['POST /init HTTP/1.1', host, 'Content-Length: 200000'], 'x'.repeat(100_000))
    await client.until('"code":404}')
    client.socket.write('x'.repeat(100_000))
    client.send(['GET /next HTTP/1.1', host])
    await client.until('"url":"/next"')
    expect(client.received).not.toContain('xxx')
  })

  it('serves a request that was sent before the answer to an earlier plain one, in order', async () => {
    held = []
    using client = new RawClient(proxy.port)
    client.send(['GET /held HTTP/1.1', host])
    await until('the request', () => held.length === 1)
    client.send(['GET /behind HTTP/1.1', host])
    await until('the request behind', () => proxy.ctx.clients.counts.requests === 2)
    expect(client.received).toBe('')
    held[0]?.end('first')
    await client.until('"url":"/behind"')
    expect(client.received.indexOf('first')).toBeLessThan(client.received.indexOf('behind'))
    client.send(['GET /last HTTP/1.1', host])
    await client.until('"url":"/last"')
  })

  it('refuses an unknown expectation after the answer to an earlier plain request', async () => {
    held = []
    using client = new RawClient(proxy.port)
    client.send(['GET /held HTTP/1.1', host])
    await until('the request', () => held.length === 1)
    client.send(['GET /behind HTTP/1.1', host, 'Expect: something'])
    await until('the request behind', () => proxy.ctx.clients.counts.requests === 2)
    held[0]?.end('first')
    await client.until('HTTP/1.1 417')
    expect(client.received).toMatch(/^HTTP\/1\.1 200 .*first.*HTTP\/1\.1 417 /s)
    client.send(['GET /last HTTP/1.1', host])
    await client.until('"url":"/last"')
  })

  it('gets its answer after it has ended its sending, and is closed then', async () => {
    held = []
    using client = new RawClient(proxy.port)
    client.send(['GET /held HTTP/1.1', host])
    await until('the request', () => held.length === 1)
    client.socket.end()
    held[0]?.end('late')
    await client.until('late')
    expect(await client.closed()).toBe('end')
    await until('no request in flight', () => proxy.ctx.clients.counts.requests === 0)
  })

  it.each([
    ['has an invalid size', 'x\r\n', 'HTTP/1.1 400'],
    ['is longer than its size', '1\r\nabc\r\n', 'HTTP/1.1 400'],
    ['is followed by malformed trailers', '0\r\nno trailer\r\n\r\n', 'HTTP/1.1 400'],
    ['is followed by trailers that are too large', `0\r\nX: ${'y'.repeat(17_000)}`, 'HTTP/1.1 431'],
    ['is followed by trailers with a length', '0\r\nContent-Length: 3\r\n\r\n', 'HTTP/1.1 400'],
    ['has too many extensions', `1;${'e'.repeat(15_000)}\r\na\r\n`.repeat(2), 'HTTP/1.1 413'],
  ])('is closed with an answer when a later chunk of a request %s', async (_, chunk, status) => {
    using client = new RawClient(proxy.port)
    client.send(['POST /x HTTP/1.1', host, 'Transfer-Encoding: chunked'], '3\r\nabc\r\n')
    await until('the request in flight', () => proxy.ctx.clients.counts.requests === 1)
    client.socket.write(chunk)
    await client.until(status)
    await client.closed()
    await until('no request in flight', () => proxy.ctx.clients.counts.requests === 0)
  })

  it('is closed with an answer when the client ends its sending inside of a body', async () => {
    using client = new RawClient(proxy.port)
    client.send(['POST /x HTTP/1.1', host, 'Content-Length: 10'], 'abc')
    await until('the request in flight', () => proxy.ctx.clients.counts.requests === 1)
    client.socket.end()
    await client.until('HTTP/1.1 400')
    await client.closed()
  })

  it('gets its answer when empty lines and the end of its sending follow its request', async () => {
    held = []
    using client = new RawClient(proxy.port)
    client.send(['GET /held HTTP/1.1', host])
    await until('the request', () => held.length === 1)
    client.socket.end('\r\n')
    held[0]?.end('late')
    await client.until('late')
  })

  it('that disconnects ends its request to the sandbox', async () => {
    held = []
    const client = new RawClient(proxy.port)
    client.send(['GET /held HTTP/1.1', host])
    await until('the request', () => held.length === 1)
    client.socket.resetAndDestroy()
    await until('the end in the service', () => held[0]?.destroyed === true)
    await until('no request in flight', () => proxy.ctx.clients.counts.requests === 0)
  })
})
