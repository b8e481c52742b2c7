import { once } from 'node:events'
import { createServer as createHttpServer, request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { StoredEgress } from '@sandyard/db/schema/sandbox'
import { sandboxAuthority } from '@sandyard/egress-ca/sandbox-authority'
import { readAll, readUntil, secure } from './support/sandbox-client.ts'
import { startSocks } from './support/socks-server.ts'
import { INTERNAL, listenOnPort, SEED, startEgress, worldCertificate, type TestEgress } from './support/start-egress.ts'

const OPEN = '127.1.0.1'
const OTHER = '127.1.0.2'
const DENY_ALL = ['0.0.0.0/0']
const SECRET = 'Bearer secret-of-the-owner'

let egress: TestEgress
let count = 0
const closing = new AsyncDisposableStack()
/** Ends the answers to `/held`. */
const held: (() => void)[] = []
const seen: { readonly method: string; readonly url: string; readonly rawHeaders: readonly string[]; readonly body: string }[] = []

beforeAll(async () => {
  egress = closing.use(await startEgress())
  const serve: RequestListener = (req, res) => {
    void text(req).then((body) => {
      seen.push({ method: req.method ?? '', url: req.url ?? '', rawHeaders: req.rawHeaders, body })
      if (req.url === '/slow') return
      const tellPort = (): void => void res.end(`port ${req.socket.remotePort} end`)
      if (req.url === '/port') return tellPort()
      if (req.url === '/held') return void held.push(tellPort)
      if (req.url?.startsWith('/raw?') === true) return void req.socket.end(decodeURIComponent(req.url.slice(5)))
      res.setHeader('X-Origin', 'yes')
      res.end(`${req.socket.localAddress} ${req.method} ${req.url} ${body}`)
    })
  }
  const https = createHttpsServer(worldCertificate('api.example.com'), serve)
  const http = createHttpServer(serve)
  for (const server of [https, http]) {
    const sockets = new WebSocketServer({ server })
    sockets.on('connection', (socket, req) => {
      seen.push({ method: 'WS', url: req.url ?? '', rawHeaders: req.rawHeaders, body: '' })
      socket.on('message', (data: Buffer) => socket.send(`echo ${data.toString()}`))
    })
  }
  closing.use(await listenOnPort(https, egress.tlsPort))
  closing.use(await listenOnPort(http, egress.httpPort))
  egress.dns.zone
    .set('api.example.com', [OPEN])
    .set('bad.example.com', [OPEN])
    .set('plain.example.com', [OPEN])
    .set('internal.example.com', [INTERNAL])
    .set('denied.example.com', [OTHER])
})
afterAll(() => closing[Symbol.asyncDispose]())

interface Sandbox {
  readonly id: string
  readonly address: string
  /** What its trust store has. */
  readonly ca: string
}

async function sandbox(network: StoredEgress): Promise<Sandbox> {
  count += 1
  const [id, address] = [`i${count}`, `127.9.6.${count}`]
  await egress.addSandbox(id, address, network)
  return { id, address, ca: sandboxAuthority(SEED, id).certificatePem }
}

function ruled(domain: string, more: StoredEgress = {}): StoredEgress {
  return { rules: { [domain]: { headers: { Authorization: SECRET, 'X-Team': 'ä' } } }, ...more }
}

async function overTls({ address, ca }: Sandbox, name: string, to = OTHER): Promise<TLSSocket> {
  return secure(await egress.dial(address, { address: to, port: egress.tlsPort }), { servername: name, ca })
}

interface Sent {
  readonly name: string
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: string
}

/** Sends a request over an open connection, as a program in a sandbox. Rejects when the connection is closed without an answer. */
async function send(
  socket: Socket,
  { name, method = 'GET', path = '/', headers = {}, body }: Sent,
): Promise<{ readonly res: IncomingMessage; readonly text: string }> {
  const req = httpRequest({ createConnection: () => socket, method, path, headers: { Host: name, Connection: 'keep-alive', ...headers } })
  req.end(body)
  const [res] = (await once(req, 'response')) as [IncomingMessage]
  return { res, text: await text(res) }
}

function header(name: string): string[] {
  const { rawHeaders = [] } = seen.at(-1) ?? {}
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name)
}

describe('a domain with a rule, behind TLS', () => {
  it('gets the headers of the rule, once, in place of those of the sandbox', async () => {
    const own = await sandbox(ruled('api.example.com'))
    const socket = await overTls(own, 'api.example.com')
    const { res, text: answer } = await send(socket, {
      name: 'api.example.com',
      method: 'POST',
      path: '/v1/x?y=1',
      headers: { authorization: ['mine', 'mine too'], 'X-Other': 'kept', 'Transfer-Encoding': 'chunked' },
      body: 'the body',
    })
    expect(answer).toBe(`${OPEN} POST /v1/x?y=1 the body`)
    expect(res.headers['x-origin']).toBe('yes')
    expect(header('authorization')).toEqual([SECRET])
    expect(header('x-team')).toEqual([Buffer.from('ä').toString('latin1')])
    expect(header('x-other')).toEqual(['kept'])
    expect(header('host')).toEqual(['api.example.com'])
    socket.destroy()
  })

  it('shows the sandbox a certificate of its own authority only', async () => {
    const own = await sandbox(ruled('*.example.com'))
    const socket = await overTls(own, 'api.example.com')
    expect(socket.getPeerCertificate().issuer.CN).toContain(own.id)
    expect(socket.alpnProtocol).toBe(false)
    socket.destroy()
    const other = await sandbox(ruled('*.example.com'))
    await expect(overTls({ ...own, ca: other.ca }, 'api.example.com')).rejects.toThrow()
  })

  it('serves several requests of one connection, in order', async () => {
    const socket = await overTls(await sandbox(ruled('api.example.com')), 'api.example.com')
    socket.write(['/1', '/2', '/3'].map((path) => `GET ${path} HTTP/1.1\r\nHost: api.example.com\r\n\r\n`).join(''))
    const all = await readUntil(socket, 'GET /3 ')
    expect([...all.matchAll(/GET \/\d/g)].map(String)).toEqual(['GET /1', 'GET /2', 'GET /3'])
    socket.destroy()
  })

  it('is not opened by its rule', async () => {
    const denied = await sandbox(ruled('api.example.com', { denyOut: DENY_ALL }))
    await expect(overTls(denied, 'api.example.com')).rejects.toThrow('closed')
    // The sandbox has dialled an address that is allowed, but the name is at one that is denied.
    const moved = await sandbox(ruled('denied.example.com', { denyOut: [OTHER] }))
    const socket = await overTls(moved, 'denied.example.com', OPEN)
    await expect(send(socket, { name: 'denied.example.com' })).rejects.toThrow()
    const internal = await overTls(await sandbox(ruled('internal.example.com')), 'internal.example.com')
    await expect(send(internal, { name: 'internal.example.com' })).rejects.toThrow()
    const allowed = await sandbox(ruled('api.example.com', { allowOut: ['api.example.com'], denyOut: DENY_ALL }))
    expect((await send(await overTls(allowed, 'api.example.com'), { name: 'api.example.com' })).text).toContain(OPEN)
  })

  it('gets an answer without the words of its server that HTTP does not allow', async () => {
    const own = await sandbox(ruled('api.example.com'))
    const path = `/raw?${encodeURIComponent('HTTP/1.1 200 \u0001\r\nX-Origin: raw\r\nContent-Length: 2\r\n\r\nok')}`
    const { res, text: answer } = await send(await overTls(own, 'api.example.com'), { name: 'api.example.com', path })
    expect([res.statusCode, res.statusMessage, res.headers['x-origin'], answer]).toEqual([200, 'OK', 'raw', 'ok'])
  })

  it('gets a 502 with its own reason when the status of its server cannot be written', async () => {
    const own = await sandbox(ruled('api.example.com'))
    const path = `/raw?${encodeURIComponent('HTTP/1.1 001 \u0001\r\nContent-Length: 2\r\n\r\nok')}`
    const { res } = await send(await overTls(own, 'api.example.com'), { name: 'api.example.com', path })
    expect([res.statusCode, res.statusMessage]).toEqual([502, 'Bad Gateway'])
  })

  it('is a 502 when its server has a certificate for another name', async () => {
    const socket = await overTls(await sandbox(ruled('bad.example.com')), 'bad.example.com')
    const before = seen.length
    const { res, text: answer } = await send(socket, { name: 'bad.example.com' })
    expect([res.statusCode, answer]).toEqual([502, 'The certificate of the server is not valid for its name.\n'])
    expect(seen.length).toBe(before)
  })

  it.each([
    ['names another server', 'GET / HTTP/1.1\r\nHost: other.example.com\r\n\r\n'],
    ['names two', 'GET / HTTP/1.1\r\nHost: api.example.com\r\nHost: api.example.com\r\n\r\n'],
    ['names none', 'GET / HTTP/1.1\r\n\r\n'],
    ['has an absolute target', 'GET http://api.example.com/ HTTP/1.1\r\nHost: api.example.com\r\n\r\n'],
    ['asks for a tunnel', 'CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com\r\n\r\n'],
    ['has two lengths', 'POST / HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['has two different lengths', 'POST / HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde'],
    ['has an unknown coding', 'POST / HTTP/1.1\r\nHost: api.example.com\r\nTransfer-Encoding: chunked, x\r\n\r\n0\r\n\r\n'],
    ['has a bare line feed', 'GET / HTTP/1.1\r\nHost: api.example.com\nX: y\r\n\r\n'],
    ['is no HTTP', 'hello\r\n\r\n'],
  ])('closes a connection whose request %s', async (_, bytes) => {
    const socket = await overTls(await sandbox(ruled('*.example.com')), 'api.example.com')
    const before = seen.length
    socket.write(bytes)
    expect(await readAll(socket)).toBe('')
    expect(seen.length).toBe(before)
  })

  it('passes WebSockets', async () => {
    const own = await sandbox(ruled('api.example.com'))
    const socket = await overTls(own, 'api.example.com')
    const client = new WebSocket('ws://api.example.com/live', { createConnection: () => socket })
    await once(client, 'open')
    client.send('hello')
    const [message] = (await once(client, 'message')) as [Buffer]
    expect(String(message)).toBe('echo hello')
    expect(header('authorization')).toEqual([SECRET])
    // A policy without the domain ends it.
    const closed = once(client, 'close')
    client.on('error', () => undefined)
    await egress.setPolicy(own.id, { denyOut: DENY_ALL })
    await closed
  })

  it('answers a client that waits before it sends the body, as the server does', async () => {
    const socket = await overTls(await sandbox(ruled('api.example.com')), 'api.example.com')
    socket.write('POST /waits HTTP/1.1\r\nHost: api.example.com\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n')
    expect(await readUntil(socket, '\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    socket.write('body')
    expect(await readUntil(socket, 'body')).toContain('POST /waits body')
    socket.destroy()
  })

  it('gets a few certificates in a second, so that a wildcard costs other sandboxes nothing', async () => {
    const own = await sandbox(ruled('*.example.com'))
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, i) => overTls(own, `n${i}.example.com`).then((socket) => (socket.destroy(), 'served'), String)),
    )
    expect(new Set(outcomes)).toEqual(new Set(['served', 'Error: closed without an answer']))
    const other = await sandbox(ruled('*.example.com'))
    ;(await overTls(other, 'api.example.com')).destroy()
  })

  it('is left alone when another domain has the rule', async () => {
    const own = await sandbox(ruled('other.example.com'))
    const socket = await secure(await egress.dial(own.address, { address: OPEN, port: egress.tlsPort }), { servername: 'api.example.com' })
    await send(socket, { name: 'api.example.com', headers: { authorization: 'mine' } })
    expect(header('authorization')).toEqual(['mine'])
    socket.destroy()
  })

  it('is reached through the proxy of the sandbox', async () => {
    await using socks = await startSocks({ resolvesTo: OPEN })
    const egressProxy = { address: `127.1.0.100:${socks.port}` }
    const own = await sandbox(ruled('api.example.com', { egressProxy, allowOut: ['*'], denyOut: DENY_ALL }))
    expect((await send(await overTls(own, 'api.example.com'), { name: 'api.example.com' })).res.statusCode).toBe(200)
    expect(header('authorization')).toEqual([SECRET])
    expect(socks.asked).toEqual([`api.example.com:${egress.tlsPort}`])
  })

  it('loses its connection when its rule changes during a request', async () => {
    const own = await sandbox(ruled('api.example.com'))
    const pending = send(await overTls(own, 'api.example.com'), { name: 'api.example.com', path: '/slow' })
    pending.catch(() => undefined)
    await expect.poll(() => seen.at(-1)?.url).toBe('/slow')
    await egress.setPolicy(own.id, {})
    await expect(pending).rejects.toThrow()
  })
})

describe('plain HTTP', () => {
  async function overHttp({ address }: Sandbox, to = OTHER): Promise<Socket> {
    return egress.dial(address, { address: to, port: egress.httpPort })
  }

  it('gets the headers of a rule, from our own lookup', async () => {
    const own = await sandbox(ruled('plain.example.com'))
    const { text: answer } = await send(await overHttp(own), { name: 'plain.example.com' })
    expect(answer).toMatch(OPEN)
    expect(header('authorization')).toEqual([SECRET])
    // Without a rule the server is the one that was dialled, and nothing is added.
    expect((await send(await overHttp(own), { name: 'api.example.com' })).text).toMatch(OTHER)
    expect(header('authorization')).toEqual([])
  })

  it('loses its connection when a changed policy may deny the address of our own lookup', async () => {
    const own = await sandbox(ruled('plain.example.com'))
    const pending = send(await overHttp(own), { name: 'plain.example.com', path: '/slow' })
    pending.catch(() => undefined)
    await expect.poll(() => seen.at(-1)?.rawHeaders.includes('plain.example.com') === true && seen.at(-1)?.url).toBe('/slow')
    await egress.setPolicy(own.id, ruled('plain.example.com', { denyOut: [OPEN] }))
    await expect(pending).rejects.toThrow()
  })

  it('sends no request under a changed policy over a connection that was opened before', async () => {
    const own = await sandbox({ allowOut: ['plain.example.com', '127.1.0.5'], denyOut: DENY_ALL })
    const socket = await overHttp(own)
    const ask = async (path: string): Promise<string | undefined> => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: plain.example.com\r\n\r\n`)
      return /port (\d+)/.exec(await readUntil(socket, 'end'))?.[1]
    }
    const port = await ask('/port')
    expect(await ask('/port')).toBe(port)
    const inFlight = ask('/held')
    await expect.poll(() => held.length).toBe(1)
    // Another connection of the sandbox, which ends when the policy has changed.
    const refused = await overHttp(own, '127.1.0.5')
    expect((await send(refused, { name: 'plain.example.com' })).res.statusCode).toBe(200)
    await egress.setPolicy(own.id, { allowOut: ['plain.example.com'], denyOut: DENY_ALL })
    await readAll(refused)
    held[0]?.()
    expect(await inFlight).toBe(port)
    expect(await ask('/port')).toMatch(/^\d+$/)
    expect(await ask('/port')).not.toBe(port)
    socket.destroy()
  })

  it('is decided by the Host of each request', async () => {
    const own = await sandbox({ allowOut: ['plain.example.com'], denyOut: DENY_ALL })
    const socket = await overHttp(own)
    socket.write('GET /first HTTP/1.1\r\nHost: plain.example.com\r\n\r\n')
    expect(await readUntil(socket, '/first')).toContain(OPEN)
    const before = seen.length
    socket.write('GET /second HTTP/1.1\r\nHost: other.example.com\r\n\r\n')
    expect(await readAll(socket)).not.toContain('/second')
    expect(seen.length).toBe(before)
  })

  it.each([
    ['another name', 'GET / HTTP/1.1\r\nHost: other.example.com\r\n\r\n'],
    ['two names', 'GET / HTTP/1.1\r\nHost: plain.example.com\r\nHost: plain.example.com\r\n\r\n'],
    ['an address', `GET / HTTP/1.1\r\nHost: ${OPEN}\r\n\r\n`],
    ['no HTTP', 'SSH-2.0-x\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('is closed without an answer with %s', async (_, bytes) => {
    const socket = await overHttp(await sandbox({ allowOut: ['plain.example.com'], denyOut: DENY_ALL }))
    socket.write(bytes)
    expect(await readAll(socket)).toBe('')
  })

  it('does not switch to another protocol than WebSocket', async () => {
    const own = await sandbox({ allowOut: ['plain.example.com'], denyOut: DENY_ALL })
    const headers = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': 'AAMAAABkAARAAAAAAAIAAAAA' }
    const { res } = await send(await overHttp(own), { name: 'plain.example.com', headers })
    expect(res.statusCode).toBe(200)
    expect([header('upgrade'), header('http2-settings')]).toEqual([[], []])
  })
})
