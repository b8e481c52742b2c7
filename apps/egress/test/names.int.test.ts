import { once } from 'node:events'
import { createServer } from 'node:net'
import { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StoredEgress } from '@sandyard/db/schema/sandbox'
import { startDns } from './support/dns-server.ts'
import { readAll, readUntil, secure } from './support/sandbox-client.ts'
import { echoTls, INTERNAL, listenOnPort, startEgress, type TestEgress } from './support/start-egress.ts'

const DENY_ALL = ['0.0.0.0/0']
const NAMED: StoredEgress = { allowOut: ['allowed.example.com', '*.wild.example.com'], denyOut: DENY_ALL }
const OPEN = '127.1.0.1'
const OTHER = '127.1.0.2'

let egress: TestEgress
const closing = new AsyncDisposableStack()
let count = 0

beforeAll(async () => {
  egress = closing.use(await startEgress())
  closing.use(await listenOnPort(echoTls('allowed.example.com'), egress.tlsPort))
  egress.dns.zone.set('allowed.example.com', [OPEN]).set('deep.er.wild.example.com', [OPEN]).set('other.example.com', [OTHER])
})
afterAll(() => closing[Symbol.asyncDispose]())

/** A running sandbox with a policy, at an address of its own. */
async function sandbox(network: StoredEgress): Promise<{ readonly id: string; readonly address: string }> {
  count += 1
  const [id, address] = [`i${count}`, `127.9.0.${count}`]
  await egress.addSandbox(id, address, network)
  return { id, address }
}

/** The first line of the server that a TLS client in a sandbox reaches; rejects when the connection is refused. */
async function reach(
  source: string,
  { name, address = OTHER }: { readonly name: string | undefined; readonly address?: string },
): Promise<string> {
  const socket = await egress.dial(source, { address, port: egress.tlsPort })
  const secured = await secure(socket, { ...(name !== undefined && { servername: name }), checkServerIdentity: () => undefined })
  const line = await readUntil(secured, '\n')
  secured.destroy()
  return line
}

describe('by the TLS server name', () => {
  it('connects an allowed name to the address of our own lookup, wherever the sandbox has dialled', async () => {
    const { address } = await sandbox(NAMED)
    expect(await reach(address, { name: 'allowed.example.com' })).toBe(`${OPEN} allowed.example.com\n`)
    expect(await reach(address, { name: 'ALLOWED.example.com' })).toMatch(OPEN)
    expect(await reach(address, { name: 'deep.er.wild.example.com' })).toMatch(OPEN)
  })

  it.each(['other.example.com', 'wild.example.com', 'evilwild.example.com', undefined])(
    'closes a connection to %s without an answer',
    async (name) => {
      const { address } = await sandbox(NAMED)
      await expect(reach(address, { name })).rejects.toThrow('closed without an answer')
      expect(egress.dns.asked).not.toContain(name)
      expect(await reach(address, { name: 'allowed.example.com' })).toMatch(OPEN)
    },
  )

  it('allows every name by `*`, and an address without a name', async () => {
    const { address } = await sandbox({ allowOut: ['*', '127.1.0.3'], denyOut: DENY_ALL })
    expect(await reach(address, { name: 'other.example.com', address: OPEN })).toMatch(OTHER)
    expect(await reach(address, { name: undefined, address: '127.1.0.3' })).toMatch('127.1.0.3')
    await expect(reach(address, { name: undefined, address: OPEN })).rejects.toThrow('closed')
  })

  it('skips internal addresses of an allowed name, and refuses a name that has no other', async () => {
    const { address } = await sandbox({ allowOut: ['*'], denyOut: DENY_ALL })
    egress.dns.zone.set('mixed.example.com', [INTERNAL, '169.254.169.254', OPEN]).set('internal.example.com', [INTERNAL])
    expect(await reach(address, { name: 'mixed.example.com' })).toMatch(OPEN)
    await expect(reach(address, { name: 'internal.example.com' })).rejects.toThrow('closed')
    expect(await egress.metric('sandyard_egress_connections_total', { verdict: 'deny', rule: 'closed_name' })).toBe(1)
  })

  it('keeps closed what is closed to everybody, also when it is listed', async () => {
    const { address } = await sandbox({ allowOut: ['*', INTERNAL], denyOut: DENY_ALL })
    await expect(reach(address, { name: 'allowed.example.com', address: INTERNAL })).rejects.toThrow('closed')
    await expect(reach(address, { name: undefined, address: INTERNAL })).rejects.toThrow('closed')
  })

  it('asks the resolvers of the policy', async () => {
    await using own = await startDns('127.0.0.2', egress.dns.port)
    own.zone.set('allowed.example.com', ['127.1.0.9'])
    const { address } = await sandbox({ ...NAMED, dnsServers: ['127.0.0.2'] })
    expect(await reach(address, { name: 'allowed.example.com' })).toMatch('127.1.0.9')
    const internal = await sandbox({ ...NAMED, dnsServers: [INTERNAL] })
    await expect(reach(internal.address, { name: 'allowed.example.com' })).rejects.toThrow('closed')
  })

  it('reads a ClientHello that comes in pieces', async () => {
    const { address } = await sandbox(NAMED)
    const socket = await egress.dial(address, { address: OTHER, port: egress.tlsPort })
    socket.setNoDelay(true)
    // Writes seven bytes at a time.
    const pieces = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _, done) => {
        const send = async (): Promise<void> => {
          for (let at = 0; at < chunk.length; at += 7) {
            socket.write(chunk.subarray(at, at + 7))
            await delay(0)
          }
          done()
        }
        void send()
      },
    })
    socket.on('data', (chunk) => pieces.push(chunk))
    const secured = connect({
      socket: pieces,
      servername: 'allowed.example.com',
      checkServerIdentity: () => undefined,
      rejectUnauthorized: false,
    })
    const [line] = (await once(secured, 'data')) as [Buffer]
    expect(String(line)).toMatch(OPEN)
    socket.destroy()
  })

  it('refuses what is not TLS when only names are allowed', async () => {
    const { address } = await sandbox(NAMED)
    const socket = await egress.dial(address, { address: OPEN, port: egress.tlsPort })
    socket.write('SSH-2.0-client\r\n')
    expect(await readAll(socket)).toBe('')
  })
})

describe('by address', () => {
  it('decides on ports without names by the address alone, and passes on an end of sending', async () => {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => undefined)
      socket.write('hello ')
      let text = ''
      socket.on('data', (chunk) => (text += String(chunk)))
      socket.on('end', () => socket.end(`got ${text}`))
    })
    await using _server = await listenOnPort(server, 0)
    const { port } = server.address() as { port: number }
    const { address } = await sandbox({ allowOut: [OPEN, 'allowed.example.com'], denyOut: DENY_ALL })
    const socket = await egress.dial(address, { address: OPEN, port })
    socket.end('all')
    expect(await readAll(socket)).toBe('hello got all')
    const refused = await egress.dial(address, { address: OTHER, port })
    expect(await readAll(refused)).toBe('')
  })

  it('forwards large bodies at the pace of the reader', async () => {
    const size = 32 * 1024 * 1024
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.end(Buffer.alloc(size, 'x'))
    })
    await using _server = await listenOnPort(server, 0)
    const { address } = await sandbox({})
    const socket = await egress.dial(address, { address: OPEN, port: (server.address() as { port: number }).port })
    let bytes = 0
    for await (const chunk of socket) bytes += (chunk as Buffer).length
    expect(bytes).toBe(size)
  })
})

describe('who may use the gateway', () => {
  it('closes connections of unknown sources, of sandboxes that ended, and to its own port', async () => {
    const closed = async (source: string, address = OPEN, port = egress.tlsPort): Promise<string> =>
      readAll(await egress.dial(source, { address, port }))
    expect(await closed('127.9.9.9')).toBe('')
    const { id, address } = await sandbox(NAMED)
    expect(await closed(address, '127.0.0.1', egress.listening.tcpPort)).toBe('')
    await egress.rows.setState(id, 'killing')
    await expect.poll(() => reach(address, { name: 'allowed.example.com' }).catch(String)).toContain('closed')
  })

  it('waits a moment for a sandbox whose programs run before its row says so', async () => {
    const early = reach('127.9.8.1', { name: 'allowed.example.com' })
    await expect.poll(() => egress.ctx.slots.open).toBeGreaterThan(0)
    await egress.addSandbox('iearly', '127.9.8.1', NAMED)
    expect(await early).toMatch(OPEN)
  })

  it('serves neither of two sandboxes with one address', async () => {
    const { address } = await sandbox(NAMED)
    await egress.addSandbox('itwin', address, {})
    await expect.poll(() => reach(address, { name: 'allowed.example.com' }).catch(String)).toContain('closed')
  })
})
