import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { decode, encode, TRUNCATED_RESPONSE, type Answer } from 'dns-packet'

export interface TestDns extends AsyncDisposable {
  readonly port: number
  /** The names that it was asked for, in order. */
  readonly asked: string[]
  /** Addresses or whole answers by name. */
  readonly zone: Map<string, readonly (string | Answer)[]>
  /** Names that it answers over UDP with a truncated answer. */
  readonly truncated: Set<string>
  /** Sends answers with another id before the right one. */
  forges: boolean
}

/** A real resolver for tests, on UDP and TCP. */
export async function startDns(host = '127.0.0.1', port = 0): Promise<TestDns> {
  const dns = { asked: [] as string[], zone: new Map<string, readonly (string | Answer)[]>(), truncated: new Set<string>(), forges: false }
  const answer = (bytes: Buffer, isUdp: boolean): Buffer => {
    const { id = 0, questions = [] } = decode(bytes)
    const name = questions[0]?.name ?? ''
    dns.asked.push(name)
    const records = dns.zone.get(name)
    const isCut = isUdp && dns.truncated.has(name)
    const flags = records === undefined ? 3 : isCut ? TRUNCATED_RESPONSE : 0
    const answers = (isCut ? [] : (records ?? [])).map((data): Answer =>
      typeof data === 'string' ? { type: 'A', name, data, ttl: 1 } : data,
    )
    return encode({
      type: 'response',
      id,
      flags,
      questions,
      answers: answers.filter(({ type }) => type === questions[0]?.type || type === 'CNAME'),
    })
  }
  const tcp = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      const bytes = answer(chunk.subarray(2), false)
      const length = Buffer.alloc(2)
      length.writeUInt16BE(bytes.length)
      socket.end(Buffer.concat([length, bytes]))
    })
  })
  tcp.listen(port, host)
  await once(tcp, 'listening')
  const { port: bound } = tcp.address() as AddressInfo
  const udp = createSocket('udp4')
  udp.on('message', (bytes, { address, port: from }) => {
    const right = answer(bytes, true)
    if (dns.forges) {
      const forged = encode({
        ...decode(bytes),
        type: 'response',
        id: (right.readUInt16BE(0) + 1) % 0x1_00_00,
        answers: [{ type: 'A', name: decode(bytes).questions?.[0]?.name ?? '', data: '192.0.2.66' }],
        additionals: [],
      })
      udp.send(forged, from, address)
    }
    udp.send(right, from, address)
  })
  udp.bind(bound, host)
  await once(udp, 'listening')
  return Object.assign(dns, {
    port: bound,
    async [Symbol.asyncDispose]() {
      await Promise.all([new Promise((resolve) => tcp.close(resolve)), new Promise<void>((resolve) => udp.close(resolve))])
    },
  })
}
