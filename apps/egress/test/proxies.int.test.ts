import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StoredEgress, StoredEgressProxy } from '@sandyard/db/schema/sandbox'
import { readAll, readUntil, secure } from './support/sandbox-client.ts'
import { startSocks } from './support/socks-server.ts'
import { echoTls, INTERNAL, listenOnPort, startEgress, WORLD_CA, type TestEgress } from './support/start-egress.ts'

const OPEN = '127.1.0.1'
const OTHER = '127.1.0.2'
const PROXY = '127.1.0.100'
const DENY_ALL = ['0.0.0.0/0']

let egress: TestEgress
let bannerPort = 0
let direct = 0
let count = 0
const closing = new AsyncDisposableStack()

beforeAll(async () => {
  // A server that waits for more of a greeting in another protocol ends with this.
  egress = closing.use(await startEgress({ environment: { SANDYARD_EGRESS_CONNECT_TIMEOUT: '2s' } }))
  closing.use(await listenOnPort(echoTls('a.example.com'), egress.tlsPort))
  egress.dns.zone.set('a.example.com', [OPEN]).set('proxy.example', [PROXY]).set('internal.proxy.example', [INTERNAL])
  const banner = createServer({ allowHalfOpen: true }, (socket) => {
    if (socket.remoteAddress !== '127.0.0.1') direct += 1
    socket.on('error', () => undefined)
    // The server speaks first, as SSH does.
    socket.write(`SSH-2.0-${socket.localAddress}\r\n`)
    socket.on('data', (chunk) => socket.write(chunk))
    socket.on('end', () => socket.end('bye'))
  })
  closing.use(await listenOnPort(banner, 0))
  bannerPort = (banner.address() as { port: number }).port
})
afterAll(() => closing[Symbol.asyncDispose]())

async function sandbox(network: StoredEgress): Promise<string> {
  count += 1
  const address = `127.9.4.${count}`
  await egress.addSandbox(`i${count}`, address, network)
  return address
}

async function banner(source: string, address = OPEN): Promise<string> {
  const socket = await egress.dial(source, { address, port: bannerPort })
  socket.end('ping')
  return readAll(socket)
}

describe('the egress proxy of a sandbox', () => {
  it('gets every permitted connection by its address, with what the server says first and the end of sending', async () => {
    await using socks = await startSocks()
    const source = await sandbox({ egressProxy: { address: `proxy.example:${socks.port}` }, denyOut: [OTHER] })
    expect(await banner(source)).toBe(`SSH-2.0-${OPEN}\r\npingbye`)
    expect(await banner(source, OTHER)).toBe('')
    expect(await banner(source, INTERNAL)).toBe('')
    expect(socks.asked).toEqual([`${OPEN}:${bannerPort}`])
  })

  it('gets names where the policy allows names', async () => {
    await using socks = await startSocks({ resolvesTo: OPEN, credentials: { username: 'user', password: 'päss' } })
    const egressProxy = { address: `${PROXY}:${socks.port}`, username: 'user', password: 'päss' }
    const source = await sandbox({ egressProxy, allowOut: ['a.example.com'], denyOut: DENY_ALL })
    const before = egress.dns.asked.length
    const secured = await secure(await egress.dial(source, { address: OTHER, port: egress.tlsPort }), { servername: 'a.example.com' })
    expect(await readUntil(secured, '\n')).toMatch(OPEN)
    secured.destroy()
    expect(socks.asked).toEqual([`a.example.com:${egress.tlsPort}`])
    expect(egress.dns.asked.slice(before)).toEqual([])
  })

  it('is spoken to in TLS, with a checked certificate', async () => {
    await using socks = await startSocks({ tlsName: 'proxy.example' })
    const address = `proxy.example:${socks.port}`
    const reach = async (tls: StoredEgressProxy['tls']): Promise<string> =>
      banner(await sandbox({ egressProxy: { address, ...(tls && { tls }) } }))
    expect(await reach({ caCert: WORLD_CA })).toContain('SSH-2.0')
    expect(await reach({ caCert: WORLD_CA, serverName: 'proxy.example' })).toContain('SSH-2.0')
    // Another name, authorities that do not know it, and no TLS.
    expect(await reach({ caCert: WORLD_CA, serverName: 'other.example' })).toBe('')
    expect(await reach({})).toBe('')
    expect(await reach(undefined)).toBe('')
  })

  it.each([
    ['refuses the connection', { answer: 5 }, {}],
    ['does not take the credentials', { credentials: { username: 'a', password: 'b' } }, { username: 'a', password: 'c' }],
    ['wants credentials', { credentials: { username: 'a', password: 'b' } }, {}],
  ])('closes the connection when the proxy %s, and nothing goes directly', async (_, options, credentials) => {
    await using socks = await startSocks(options)
    const source = await sandbox({ egressProxy: { address: `${PROXY}:${socks.port}`, ...credentials } })
    const before = direct
    expect(await banner(source)).toBe('')
    expect(direct).toBe(before)
  })

  it.each(['internal.proxy.example', INTERNAL, 'unknown.proxy.example', '10.0.0.1'])('is not used at %s', async (host) => {
    await using socks = await startSocks()
    const source = await sandbox({ egressProxy: { address: `${host}:${socks.port}` } })
    expect(await banner(source)).toBe('')
    expect(socks.asked).toEqual([])
  })

  it('ends with a proxy that does not answer', async () => {
    await using silent = await listenOnPort(createServer(), 0)
    await using small = await startEgress({ environment: { SANDYARD_EGRESS_CONNECT_TIMEOUT: '500ms' } })
    const { port } = silent.address() as { port: number }
    await small.addSandbox('islow', '127.9.5.1', { egressProxy: { address: `${PROXY}:${port}` } })
    expect(await readAll(await small.dial('127.9.5.1', { address: OPEN, port: bannerPort }))).toBe('')
    expect(await small.metric('sandyard_egress_connections_total', { verdict: 'deny', rule: 'proxy_failed' })).toBe(1)
  })
})
