import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { StoredEgress } from '@sandyard/db/schema/sandbox'
import { readAll, readUntil, secure } from './support/sandbox-client.ts'
import { echoTls, listenEcho, listenOnPort, startEgress, type TestEgress } from './support/start-egress.ts'

const OPEN = '127.1.0.1'
const DENY_ALL = ['0.0.0.0/0']
const NAMED: StoredEgress = { allowOut: ['a.example.com'], denyOut: DENY_ALL }

let egress: TestEgress
let echoPort = 0
let count = 0
const closing = new AsyncDisposableStack()

beforeAll(async () => {
  egress = closing.use(await startEgress())
  closing.use(await listenOnPort(echoTls('a.example.com'), egress.tlsPort))
  egress.dns.zone.set('a.example.com', [OPEN])
  echoPort = closing.use(await listenEcho()).port
})
afterAll(() => closing[Symbol.asyncDispose]())

async function sandbox(network: StoredEgress): Promise<{ readonly id: string; readonly address: string }> {
  count += 1
  const [id, address] = [`i${count}`, `127.9.2.${count}`]
  await egress.addSandbox(id, address, network)
  return { id, address }
}

/** An open connection by name. */
async function byName(source: string): Promise<Socket> {
  const secured = await secure(await egress.dial(source, { address: '127.1.0.9', port: egress.tlsPort }), { servername: 'a.example.com' })
  await readUntil(secured, '\n')
  return secured
}

/** An open connection by address. */
async function byAddress(source: string, address = OPEN): Promise<Socket> {
  const socket = await egress.dial(source, { address, port: echoPort })
  await says(socket, 'hello')
  return socket
}

async function says(socket: Socket, text: string): Promise<void> {
  socket.write(text)
  await readUntil(socket, text)
}

it('ends the connections that a new policy refuses, and no others', async () => {
  const changed = await sandbox({ allowOut: ['a.example.com', OPEN, '127.1.0.5'], denyOut: DENY_ALL })
  const other = await sandbox(NAMED)
  const [refused, kept, named, ofOther] = [
    await byAddress(changed.address),
    await byAddress(changed.address, '127.1.0.5'),
    await byName(changed.address),
    await byName(other.address),
  ]
  await egress.setPolicy(changed.id, { allowOut: ['a.example.com', '127.1.0.5'], denyOut: DENY_ALL })
  expect(await readAll(refused)).toBe('')
  await says(kept, 'still here')
  await says(named, 'still here')
  await egress.setPolicy(changed.id, { allowOut: ['127.1.0.5'], denyOut: DENY_ALL })
  expect(await readAll(named)).toBe('')
  await says(kept, 'still here')
  await says(ofOther, 'still here')
  kept.destroy()
  ofOther.destroy()
})

it('ends connections that have to leave through a proxy from now on', async () => {
  const { id, address } = await sandbox({})
  const open = await byAddress(address)
  await egress.setPolicy(id, { egressProxy: { address: 'proxy.example:1080' } })
  expect(await readAll(open)).toBe('')
})

it('keeps connections over changes of the row that are not of its egress', async () => {
  const { id, address } = await sandbox(NAMED)
  const open = await byName(address)
  await egress.rows.setState(id, 'snapshotting', { started_at: undefined as never })
  await says(open, 'during the snapshot')
  open.destroy()
})

it.each(['killing', 'paused'] as const)('ends the connections of a sandbox in the state %s', async (state) => {
  const { id, address } = await sandbox({})
  const open = await byAddress(address)
  await egress.rows.setState(id, state, { endpoint_host: state === 'paused' ? null : address })
  expect(await readAll(open)).toBe('')
})

it('ends connections although the notification was lost', async () => {
  const { id, address } = await sandbox({})
  const open = await byAddress(address)
  await egress.database.db.updateTable('sandbox').set({ state: 'killing' }).where('sandbox_id', '=', id).execute()
  expect(await readAll(open)).toBe('')
})

it('waits no longer than its deadline for a name, and caps what waits without an effect on other sandboxes', async () => {
  await using small = await startEgress({ environment: { SANDYARD_EGRESS_MAX_SANDBOX_PENDING: '3', SANDYARD_EGRESS_PEEK_TIMEOUT: '3s' } })
  await using _server = await listenOnPort(echoTls('a.example.com'), small.tlsPort)
  small.dns.zone.set('a.example.com', [OPEN])
  await small.addSandbox('igreedy', '127.9.3.1', NAMED)
  await small.addSandbox('iother', '127.9.3.2', NAMED)
  const silent = await Promise.all(Array.from({ length: 20 }, () => small.dial('127.9.3.1', { address: OPEN, port: small.tlsPort })))
  await expect.poll(() => small.metric('sandyard_egress_connections_total', { rule: 'limit' })).toBe(17)
  const secured = await secure(await small.dial('127.9.3.2', { address: OPEN, port: small.tlsPort }), { servername: 'a.example.com' })
  expect(await readUntil(secured, '\n')).toMatch(OPEN)
  secured.destroy()
  expect(new Set(await Promise.all(silent.map((socket) => readAll(socket))))).toEqual(new Set(['']))
})

it('accepts no more new connections of one sandbox in a second than its cap', async () => {
  await using small = await startEgress({ environment: { SANDYARD_EGRESS_MAX_SANDBOX_RATE: '5' } })
  await small.addSandbox('ifast', '127.9.3.3', {})
  await small.addSandbox('islow', '127.9.3.4', {})
  const dial = async (source: string): Promise<string> => {
    const socket = await small.dial(source, { address: OPEN, port: echoPort })
    socket.end('x')
    return readAll(socket)
  }
  const answers = await Promise.all(Array.from({ length: 100 }, () => dial('127.9.3.3')))
  expect(answers.filter((answer) => answer === 'x').length).toBeGreaterThanOrEqual(10)
  expect(answers).toContain('')
  expect(await dial('127.9.3.4')).toBe('x')
})
