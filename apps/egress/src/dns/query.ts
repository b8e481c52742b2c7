import { decode, encode, RECURSION_DESIRED, type Packet, type Question } from 'dns-packet'
import { toServerName } from '../names/server-name.ts'

/** A question of a sandbox. */
export interface Query {
  readonly id: number
  /** In lower case, without the final dot. */
  readonly name: string
  /** As the sandbox wrote it: clients compare answers with it. */
  readonly asked: string
  readonly type: string
  /** The largest UDP answer that the client takes, in bytes. */
  readonly maxAnswerBytes: number
}

export type ParsedQuery =
  | { readonly kind: 'query'; readonly query: Query }
  /** Not answered: without a header nobody waits for an answer. */
  | { readonly kind: 'ignored' }
  /** Answered with the code. */
  | { readonly kind: 'refused'; readonly id: number; readonly code: ResponseCode }

export const RESPONSE_CODE = { ok: 0, formatError: 1, serverFailure: 2, notImplemented: 4, refused: 5 } as const
export type ResponseCode = (typeof RESPONSE_CODE)[keyof typeof RESPONSE_CODE]

const HEADER_BYTES = 12
/** A name, its type and EDNS options. */
export const MAX_QUERY_BYTES = 512
const RESPONSE_BIT = 0x8000
const OPCODE_BITS = 0x7800
/** RFC 1035 2.3.4, without EDNS. */
const PLAIN_UDP_BYTES = 512
/** Fits one packet on every link (DNS Flag Day 2020). */
export const MAX_UDP_BYTES = 1232

/** Reads one question. Other sections than the question may have one EDNS record only. */
export function parseQuery(bytes: Buffer): ParsedQuery {
  if (bytes.length < HEADER_BYTES) return { kind: 'ignored' }
  const [id, flags] = [bytes.readUInt16BE(0), bytes.readUInt16BE(2)]
  if ((flags & RESPONSE_BIT) !== 0) return { kind: 'ignored' }
  const refused = (code: ResponseCode): ParsedQuery => ({ kind: 'refused', id, code })
  if ((flags & OPCODE_BITS) !== 0) return refused(RESPONSE_CODE.notImplemented)
  const [questions, answers, authorities, additionals] = [4, 6, 8, 10].map((at) => bytes.readUInt16BE(at))
  const isSimple = questions === 1 && answers === 0 && authorities === 0 && (additionals ?? 0) <= 1
  if (bytes.length > MAX_QUERY_BYTES || !isSimple) return refused(RESPONSE_CODE.formatError)
  let packet: Packet
  try {
    packet = decode(bytes)
  } catch {
    return refused(RESPONSE_CODE.formatError)
  }
  const [question] = packet.questions ?? []
  const name = question === undefined ? undefined : toServerName(question.name)
  if (question === undefined || name === undefined || (question.class ?? 'IN') !== 'IN') return refused(RESPONSE_CODE.refused)
  const edns = packet.additionals?.find((record) => record.type === 'OPT')
  const announced = edns?.type === 'OPT' ? edns.udpPayloadSize : PLAIN_UDP_BYTES
  const maxAnswerBytes = Math.min(Math.max(announced, PLAIN_UDP_BYTES), MAX_UDP_BYTES)
  return { kind: 'query', query: { id, name, asked: question.name, type: question.type, maxAnswerBytes } }
}

/** An answer without records. */
export function emptyAnswer(id: number, code: ResponseCode, questions: Question[] = []): Buffer {
  return encode({ type: 'response', id, flags: RECURSION_DESIRED | RECURSION_AVAILABLE | code, questions })
}

export const RECURSION_AVAILABLE = 0x80
