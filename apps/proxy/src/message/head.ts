import { STATUS_CODES, type IncomingHttpHeaders } from 'node:http'

/** The headers that say how a message is framed and what belongs to its connection only; repeated ones are joined. */
export type FramingHeaders = Pick<IncomingHttpHeaders, 'connection' | 'content-length' | 'trailer' | 'transfer-encoding'>

/** The used parts of a message; requests, answers and interim answers have them. */
export interface HeadParts {
  readonly headers: FramingHeaders
  /** Name, value, name, value. */
  readonly rawHeaders: readonly string[]
}

export interface RawHead {
  readonly status: number
  readonly reason?: string | undefined
  /** Name, value, name, value. */
  readonly headers: readonly string[]
}

/** Headers that belong to one connection, not to the message (RFC 9110, 7.6.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Control characters, and characters that are not one byte. */
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/

/** A `Connection` header cannot remove these, because that would change the meaning or the length of the message. */
const NEVER_DROPPED: ReadonlySet<string> = new Set(['host', 'content-length'])

/** The headers of a message in their order and spelling, without those of the connection and those for which `isReplaced` is true. */
export function endToEndHeaders({ headers, rawHeaders }: HeadParts, isReplaced: (lowerName: string) => boolean): string[] {
  const nominated = nominatedHeaders(headers.connection)
  const kept: string[] = []
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    const lower = name.toLowerCase()
    if (HOP_BY_HOP.has(lower) || nominated?.has(lower) === true || isReplaced(lower)) continue
    kept.push(name, rawHeaders[i + 1] ?? '')
  }
  return kept
}

/** True when a body follows the head of a request, even an empty one in chunks. */
export function hasBody(req: Pick<HeadParts, 'headers'>): boolean {
  return isChunked(req) || Number(req.headers['content-length'] ?? 0) > 0
}

/** True for an answer that has no body, whatever its headers say. */
export function isWithoutBody(status: number): boolean {
  return status < 200 || status === 204 || status === 304
}

export function isChunked({ headers }: Pick<HeadParts, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined
}

/** The announced trailers. Only a chunked message can send them. */
export function trailerNames({ headers }: Pick<HeadParts, 'headers'>): string[] {
  return headers.trailer === undefined ? [] : ['Trailer', headers.trailer]
}

/** Flat raw headers as the pairs that `addTrailers` takes. */
export function toPairs(raw: readonly string[]): [string, string][] {
  const pairs: [string, string][] = []
  for (let i = 0; i + 1 < raw.length; i += 2) pairs.push([raw[i] ?? '', raw[i + 1] ?? ''])
  return pairs
}

/** The head of an answer as text, where Node's HTTP server does not write it. */
export function formatHead({ status, reason, headers }: RawHead): string {
  return `HTTP/1.1 ${status} ${reason ?? STATUS_CODES[status] ?? ''}\r\n${formatHeaders(headers)}\r\n`
}

/** The head of a request as text. */
export function formatRequestHead(method: string, path: string, headers: readonly string[]): string {
  return `${method} ${path} HTTP/1.1\r\n${formatHeaders(headers)}\r\n`
}

/**
 * Headers or trailers as lines.
 *
 * @param headers name, value, name, value
 * @throws when a value has characters that a header cannot have
 */
export function formatHeaders(headers: readonly string[]): string {
  let text = ''
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const value = headers[i + 1] ?? ''
    if (NOT_IN_VALUE.test(value)) throw new Error(`the header ${headers[i]} has an invalid value`)
    text += `${headers[i]}: ${value}\r\n`
  }
  return text
}

/** Names of headers that the sender declares as valid for this connection only. */
function nominatedHeaders(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || /^(?:keep-alive|close|upgrade)$/i.test(connection)) return undefined
  const names = connection
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
  return new Set(names.filter((name) => !NEVER_DROPPED.has(name)))
}
