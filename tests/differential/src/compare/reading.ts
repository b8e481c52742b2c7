import { createHash } from 'node:crypto'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { JsonValue } from '@bufbuild/protobuf'
import { splitEnvelopes } from '../wire/envelopes.ts'
import type { WireRequest } from '../wire/exchange.ts'
import { headerOf, type WireAnswer } from '../wire/parse-answer.ts'
import { decodeProto, type RpcMethod } from '../wire/rpc.ts'
import { normalise, normaliseText } from './normalise.ts'

/** An answer in comparable form. */
export interface Reading {
  readonly status: number
  readonly end: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonValue
}

/** Headers that differ in every answer, or concern only the connection. */
const IGNORED_HEADERS = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding'])
/** Types of bodies that are compared by value, because their bytes may differ (envd.md 6.2). */
const FREE_LENGTH = /^application\/(connect\+)?(json|proto)/
const LONG = 2000

export function readAnswer(answer: WireAnswer, request: WireRequest): Reading {
  const type = headerOf(answer, 'content-type') ?? ''
  const boundary = /boundary=([^;]+)/.exec(type)?.[1]
  const hide = (text: string): string => (boundary === undefined ? text : text.replaceAll(boundary, '<boundary>'))
  const body = readBody(answer, type, request)
  return {
    status: answer.status,
    end: answer.end,
    headers: readHeaders(answer, request, hide),
    body: normalise(typeof body === 'string' ? shorten(hide(body)) : body),
  }
}

function readHeaders(answer: WireAnswer, { target }: WireRequest, hide: (text: string) => string): Record<string, string> {
  const headers: Record<string, string> = {}
  const type = headerOf(answer, 'content-type') ?? ''
  const hasFreeLength = FREE_LENGTH.test(type) || isUploadAnswer(answer.body, target) || headerOf(answer, 'content-encoding') !== undefined
  for (const [name, value] of answer.headers) {
    const key = name.toLowerCase()
    if (IGNORED_HEADERS.has(key) || (key === 'content-length' && hasFreeLength)) continue
    const shown = normaliseText(hide(value))
    headers[key] = headers[key] === undefined ? shown : `${headers[key]}, ${shown}`
  }
  // Go lists the methods of a route in random order.
  if (headers['allow'] !== undefined) headers['allow'] = headers['allow'].split(', ').sort().join(', ')
  return headers
}

function readBody(answer: WireAnswer, type: string, { target }: WireRequest): JsonValue {
  const coding = headerOf(answer, 'content-encoding')
  const bytes = coding === 'gzip' ? unzip(answer.body) : coding === 'zstd' ? zstdDecompressSync(answer.body) : answer.body
  if (bytes === undefined) return { notGzip: answer.body.toString('latin1') }
  const method = target.split('/').at(-1) as RpcMethod
  if (type.startsWith('application/connect+')) return readFrames(bytes, type, method)
  if (type.startsWith('application/proto')) return decodeProto(method, bytes) ?? bytes.toString('latin1')
  return type.startsWith('application/json') || isUploadAnswer(bytes, target) ? readJson(bytes) : bytes.toString('latin1')
}

/** JSON that the reference daemon sends as plain text. */
function isUploadAnswer(bytes: Buffer, target: string): boolean {
  return /^\/files(\?|$)/.test(target) && /^\[(\{"|\]$)/.test(bytes.toString('latin1', 0, 20))
}

function readFrames(bytes: Buffer, type: string, method: RpcMethod): JsonValue {
  const { envelopes, rest } = splitEnvelopes(bytes)
  const frames: JsonValue[] = envelopes.map(({ flags, payload }) => {
    const plain = (flags & 1) === 1 ? (unzip(payload) ?? payload) : payload
    const isProto = type.startsWith('application/connect+proto') && (flags & 2) === 0
    return { flags, message: isProto ? (decodeProto(method, plain) ?? plain.toString('latin1')) : readJson(plain) }
  })
  return rest.length === 0 ? frames : [...frames, { rest: rest.toString('latin1') }]
}

function readJson(bytes: Buffer): JsonValue {
  try {
    return JSON.parse(bytes.toString()) as JsonValue
  } catch {
    return bytes.toString('latin1')
  }
}

function unzip(bytes: Buffer): Buffer | undefined {
  try {
    return bytes.length === 0 ? bytes : gunzipSync(bytes)
  } catch {
    return undefined
  }
}

function shorten(text: string): string {
  if (text.length <= LONG) return text
  return `${text.length} characters, SHA-256 ${createHash('sha256').update(text, 'latin1').digest('hex')}`
}
