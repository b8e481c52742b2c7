import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import { encode, RECURSION_DESIRED, type Packet } from 'dns-packet'
import { isTruncated, toAnswer, type AnswerRules } from './answer.ts'
import { readMessages, toMessage } from './messages.ts'
import { MAX_UDP_BYTES, type Query } from './query.ts'

/** The address and port of a resolver. */
export interface ResolverAddress {
  readonly host: string
  readonly port: number
}

const UDP_TIMEOUT_MS = 2000
const TCP_TIMEOUT_MS = 4000
/** Of one question, one after the other, by the resolvers in turns. */
const TRIES = 3
const MAX_MESSAGE_BYTES = 65_535

export interface AskOptions extends AnswerRules {
  readonly resolvers: readonly ResolverAddress[]
}

/**
 * Asks the resolvers, from a random port and with a random id each time; over TCP when the answer does not fit.
 *
 * @returns the answer for the sandbox; undefined when no resolver has answered
 */
export async function askResolvers(query: Query, { resolvers, isClosed }: AskOptions): Promise<Packet | undefined> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const resolver = resolvers[tries % resolvers.length]
    if (resolver === undefined) return undefined
    try {
      const answer = await askUdp(query, resolver, { isClosed })
      return isTruncated(answer) ? await askTcp(query, resolver, { isClosed }) : answer
    } catch {
      // The next one is asked.
    }
  }
  return undefined
}

async function askUdp(query: Query, { host, port }: ResolverAddress, rules: AnswerRules): Promise<Packet> {
  const id = newId()
  const question = toQuestion(query, id)
  const socket = createSocket('udp4')
  const { promise, resolve, reject } = Promise.withResolvers<Packet>()
  const timer = setTimeout(() => reject(new Error('no answer')), UDP_TIMEOUT_MS)
  socket.on('error', reject)
  // Wrong answers may be forged, so the right one is still awaited.
  socket.on('message', (bytes) => {
    const answer = toAnswer(bytes, { id, query }, rules)
    if (answer !== undefined) resolve(answer)
  })
  // A connected socket gets packets of its peer only.
  socket.once('connect', () => socket.send(question))
  // A callback here would get the failure instead of the error event.
  socket.connect(port, host)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    socket.close()
  }
}

async function askTcp(query: Query, { host, port }: ResolverAddress, rules: AnswerRules): Promise<Packet> {
  const id = newId()
  const socket = connect({ host, port })
  socket.on('error', () => undefined)
  const timer = setTimeout(() => socket.destroy(new Error('no answer')), TCP_TIMEOUT_MS)
  try {
    await once(socket, 'connect')
    socket.write(toMessage(toQuestion(query, id)))
    for await (const message of readMessages(socket, MAX_MESSAGE_BYTES)) {
      const answer = toAnswer(message, { id, query }, rules)
      if (answer !== undefined) return answer
    }
    throw new Error('no answer')
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}

function toQuestion({ name, type }: Query, id: number): Buffer {
  return encode({
    type: 'query',
    id,
    flags: RECURSION_DESIRED,
    questions: [{ name, type: type as 'A', class: 'IN' }],
    additionals: [
      { type: 'OPT', name: '.', udpPayloadSize: MAX_UDP_BYTES, flags: 0, options: [], extendedRcode: 0, ednsVersion: 0, flag_do: false },
    ],
  })
}

function newId(): number {
  return randomInt(0x1_00_00)
}
