import { STATUS_CODES, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'

/** The used parts of a message; requests, answers and interim answers have them. */
export interface HeadParts {
  readonly headers: IncomingHttpHeaders
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
export function hasBody(req: IncomingMessage): boolean {
  return isChunked(req) || Number(req.headers['content-length'] ?? 0) > 0
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
  const lines = toPairs(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${reason ?? STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`
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
