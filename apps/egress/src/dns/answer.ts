import { isIPv4, isIPv6 } from 'node:net'
import { decode, encode, RECURSION_DESIRED, TRUNCATED_RESPONSE, type Answer, type Packet, type Question } from 'dns-packet'
import { RECURSION_AVAILABLE, type Query } from './query.ts'

const RESPONSE_CODE_BITS = 0xf
/** Resolvers map IPv4 addresses in these ways; NAT64 has them too. */
const MAPPED = /^(?:::ffff:|64:ff9b::)/i
const INTERNAL_IPV6 = /^(?:::1?$|f[cd]|fe[89ab]|ff)/i

export interface AnswerRules {
  readonly isClosed: (address: string) => boolean
}

/**
 * The answer of a resolver for the sandbox that asked: with the sandbox's id and spelling, and without addresses that are closed to it, which
 * a name of the policy could be pointed at (DNS rebinding).
 *
 * @returns undefined when the answer is not one to this question
 */
export function toAnswer(
  bytes: Buffer,
  asked: { readonly id: number; readonly query: Query },
  { isClosed }: AnswerRules,
): Packet | undefined {
  let packet: Packet & { readonly flag_tc?: boolean }
  try {
    packet = decode(bytes)
  } catch {
    return undefined
  }
  const { query } = asked
  const [question, ...more] = packet.questions ?? []
  const isOurs = packet.type === 'response' && packet.id === asked.id && more.length === 0
  if (!isOurs || question?.name.toLowerCase() !== query.name || question.type !== query.type) return undefined
  const isOpen = (record: Answer): boolean => !isClosedRecord(record, isClosed)
  const flags = RECURSION_DESIRED | RECURSION_AVAILABLE | ((packet.flags ?? 0) & (RESPONSE_CODE_BITS | TRUNCATED_RESPONSE))
  return {
    type: 'response',
    id: query.id,
    flags,
    questions: [questionOf(query)],
    answers: (packet.answers ?? []).filter(isOpen),
    authorities: (packet.authorities ?? []).filter(isOpen),
  }
}

/** As bytes. Too long for UDP: without records and marked as truncated, so that the client asks again over TCP. */
export function encodeAnswer(answer: Packet, maxBytes: number): Buffer {
  const bytes = encode(answer)
  if (bytes.length <= maxBytes) return bytes
  return encode({ ...answer, flags: (answer.flags ?? 0) | TRUNCATED_RESPONSE, answers: [], authorities: [] })
}

export function isTruncated({ flags = 0 }: Packet): boolean {
  return (flags & TRUNCATED_RESPONSE) !== 0
}

export function questionOf({ asked, type }: Query): Question {
  return { name: asked, type: type as Question['type'], class: 'IN' }
}

function isClosedRecord(record: Answer, isClosed: (address: string) => boolean): boolean {
  if (record.type === 'A') return !isIPv4(record.data) || isClosed(record.data)
  // Sandboxes have no IPv6; a program could still read a mapped IPv4 address.
  if (record.type === 'AAAA') return !isIPv6(record.data) || MAPPED.test(record.data) || INTERNAL_IPV6.test(record.data)
  return false
}
