import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import { decode, encode, type Packet, type RecordType } from 'dns-packet'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StoredEgress } from '@sandyard/db/schema/sandbox'
import { askResolvers } from '../src/dns/ask-resolver.ts'
import { startDns } from './support/dns-server.ts'
import { INTERNAL, startEgress, type TestEgress } from './support/start-egress.ts'

const OPEN = '127.1.0.1'
const DENY_ALL = ['0.0.0.0/0']
const REFUSED = 5

let egress: TestEgress
let count = 0
beforeAll(async () => {
  egress = await startEgress({ environment: { SANDYARD_EGRESS_MAX_SANDBOX_LOOKUPS: '20' } })
  egress.dns.zone
    .set('a.example.com', [OPEN])
    .set('rebound.example.com', [OPEN, INTERNAL, '169.254.169.254'])
    .set(
      'long.example.com',
      Array.from({ length: 200 }, (_, i) => `127.1.1.${i + 1}`),
    )
    .set('alias.example.com', [
      { type: 'CNAME', name: 'alias.example.com', data: 'a.example.com' },
      { type: 'A', name: 'a.example.com', data: OPEN },
    ])
    .set('mapped.example.com', [
      { type: 'AAAA', name: 'mapped.example.com', data: '::ffff:10.0.0.1' },
      { type: 'AAAA', name: 'mapped.example.com', data: 'fd00::1' },
      { type: 'AAAA', name: 'mapped.example.com', data: '2001:db8::1' },
    ])
    .set('h3.example.com', [])
})
afterAll(() => egress[Symbol.asyncDispose]())

async function sandbox(network: StoredEgress): Promise<string> {
  count += 1
  const address = `127.9.1.${count}`
  await egress.addSandbox(`i${count}`, address, network)
  return address
}

const NAMED: StoredEgress = { allowOut: ['*.example.com'], denyOut: DENY_ALL }

function question(name: string, type: RecordType = 'A'): Buffer {
  return encode({ type: 'query', id: 4711, flags: 256, questions: [{ type, name }] })
}

/** The answer to a UDP packet; undefined when none comes before that of a later question. */
async function send(source: string, bytes: Buffer): Promise<Packet & { readonly rcode?: number; readonly bytes: number }> {
  const socket = createSocket('udp4')
  socket.bind(0, source)
  await once(socket, 'listening')
  socket.send(bytes, egress.listening.dnsPort, '127.0.0.1')
  const [answer] = (await once(socket, 'message')) as [Buffer]
  socket.close()
  return { ...decode(answer), rcode: answer.readUInt16BE(2) & 15, bytes: answer.length }
}

async function sendTcp(source: string, bytes: Buffer): Promise<Packet> {
  const socket = connect({ host: '127.0.0.1', port: egress.listening.dnsPort, localAddress: source })
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  // In pieces, as a stream may arrive.
  socket.write(length.subarray(0, 1))
  socket.write(Buffer.concat([length.subarray(1), bytes]))
  let read = Buffer.alloc(0)
  for await (const chunk of socket) {
    read = Buffer.concat([read, chunk as Buffer])
    if (read.length >= 2 && read.length >= 2 + read.readUInt16BE(0)) break
  }
  return decode(read.subarray(2))
}

function dataOf({ answers = [] }: Packet): unknown[] {
  return answers.map((answer) => (answer.type === 'A' || answer.type === 'AAAA' || answer.type === 'CNAME' ? answer.data : answer.type))
}

describe('a filtered lookup', () => {
  it('is answered for names that the policy allows, with the id and the spelling of the question', async () => {
    const source = await sandbox(NAMED)
    const answer = await send(source, question('A.Example.com'))
    expect(answer).toMatchObject({ id: 4711, rcode: 0 })
    expect(answer.questions?.[0]?.name).toBe('A.Example.com')
    expect(dataOf(answer)).toEqual([OPEN])
    expect(dataOf(await send(source, question('alias.example.com')))).toEqual(['a.example.com', OPEN])
  })

  it.each(['example.com', 'secret.data.attacker.org', 'evilexample.com'])('is refused for %s, and nothing leaves', async (name) => {
    const source = await sandbox(NAMED)
    expect(await send(source, question(name))).toMatchObject({ rcode: REFUSED, answers: [] })
    expect(egress.dns.asked).not.toContain(name)
    expect((await send(source, question('a.example.com'))).rcode).toBe(0)
  })

  it('has no internal addresses in its answer', async () => {
    const source = await sandbox(NAMED)
    expect(dataOf(await send(source, question('rebound.example.com')))).toEqual([OPEN])
    expect(dataOf(await send(source, question('mapped.example.com', 'AAAA')))).toEqual(['2001:db8::1'])
  })

  it('has no answer that tells of QUIC or of encrypted names', async () => {
    const source = await sandbox(NAMED)
    expect(await send(source, question('h3.example.com', 'UNKNOWN_65' as RecordType))).toMatchObject({ rcode: 0, answers: [] })
    expect(egress.dns.asked).not.toContain('h3.example.com')
  })

  it('goes over TCP when the answer is long, on both sides', async () => {
    const source = await sandbox(NAMED)
    egress.dns.truncated.add('long.example.com')
    const cut = await send(source, question('long.example.com'))
    expect(cut.bytes).toBeLessThanOrEqual(512)
    expect(cut).toMatchObject({ flag_tc: true, answers: [] })
    expect(dataOf(await sendTcp(source, question('long.example.com')))).toHaveLength(200)
  })

  it('ignores answers with another id', async () => {
    const source = await sandbox(NAMED)
    egress.dns.forges = true
    expect(dataOf(await send(source, question('a.example.com')))).toEqual([OPEN])
    egress.dns.forges = false
  })

  it('is for the resolvers of the policy, and for all names without domains', async () => {
    await using own = await startDns('127.0.0.3', egress.dns.port)
    own.zone.set('anything.test', ['127.1.0.7'])
    const source = await sandbox({ dnsServers: ['127.0.0.3'] })
    expect(dataOf(await send(source, question('anything.test')))).toEqual(['127.1.0.7'])
    expect(egress.dns.asked).not.toContain('anything.test')
  })

  it('fails when every resolver is closed, and for a source that is no sandbox', async () => {
    const source = await sandbox({ dnsServers: [INTERNAL] })
    expect((await send(source, question('a.example.com'))).rcode).toBe(2)
    expect((await send('127.9.9.9', question('a.example.com'))).rcode).toBe(REFUSED)
  })

  it.each([
    [
      'two questions',
      encode({
        type: 'query',
        id: 1,
        questions: [
          { type: 'A', name: 'a.example.com' },
          { type: 'A', name: 'b.org' },
        ],
      }),
      1,
    ],
    ['another operation', encode({ type: 'query', id: 1, flags: 2 << 11, questions: [{ type: 'A', name: 'a.example.com' }] }), 4],
    ['a name that cannot be read', Buffer.concat([question('a.example.com').subarray(0, 12), Buffer.from([0xc0, 12, 0, 1, 0, 1])]), 1],
    ['no name', encode({ type: 'query', id: 1, questions: [{ type: 'A', name: '.' }] }), REFUSED],
  ])('is refused with %s', async (_, bytes, code) => {
    const source = await sandbox(NAMED)
    expect((await send(source, bytes)).rcode).toBe(code)
  })

  it('has few TCP connections of its sandbox, and leaves those of other sandboxes alone', async () => {
    const source = await sandbox(NAMED)
    let closed = 0
    const open = Array.from({ length: 20 }, () => {
      const socket = connect({ host: '127.0.0.1', port: egress.listening.dnsPort, localAddress: source })
      return socket.on('error', () => undefined).on('close', () => (closed += 1))
    })
    await expect.poll(() => closed).toBe(4)
    expect(dataOf(await sendTcp(await sandbox(NAMED), question('a.example.com')))).toEqual([OPEN])
    expect(closed).toBe(4)
    for (const socket of open) socket.destroy()
    await expect.poll(() => closed).toBe(20)
    // The places are free again.
    await expect.poll(() => sendTcp(source, question('a.example.com')).then(dataOf, String)).toEqual([OPEN])
  })

  it('fails when no packet can be sent to its resolver', async () => {
    const query = { id: 1, name: 'a.example.com', asked: 'a.example.com', type: 'A', maxAnswerBytes: 512 }
    const resolvers = [{ host: '255.255.255.255', port: 53 }]
    expect(await askResolvers(query, { resolvers, isClosed: () => false })).toBeUndefined()
  })

  it('is not answered over the rate of its sandbox; another sandbox is', async () => {
    const flooding = await sandbox(NAMED)
    const socket = createSocket('udp4')
    socket.bind(0, flooding)
    await once(socket, 'listening')
    for (let i = 0; i < 200; i += 1) socket.send(question('refused.org'), egress.listening.dnsPort, '127.0.0.1')
    await expect.poll(() => egress.metric('sandyard_egress_lookups_total', { outcome: 'limit' })).toBeGreaterThan(0)
    expect((await send(await sandbox(NAMED), question('a.example.com'))).rcode).toBe(0)
    socket.close()
  })
})
