import type { IncomingMessage } from 'node:http'

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

/** What a `Connection` header cannot take away: the message would change its meaning or its length. */
const NEVER_DROPPED: ReadonlySet<string> = new Set(['host', 'content-length'])

/** Methods whose requests Node frames as chunked unless they say otherwise. */
const BODILESS_BY_DEFAULT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])

export interface RequestHeaderOptions {
  /** Becomes `Host`. */
  readonly authority: string
  readonly clientAddress: string
  /** The protocol to ask the sandbox for, when the request is an upgrade. */
  readonly upgrade?: string | undefined
}

/** True when a body follows the request's head, be it of zero bytes. */
export function hasBody(req: IncomingMessage): boolean {
  return isChunked(req) || Number(req.headers['content-length'] ?? 0) > 0
}

/**
 * The headers for the sandbox, as name, value, name, value: the client's in their order and spelling, without those of the
 * connection, with `X-Forwarded-For` extended and `X-Forwarded-Host` and `X-Forwarded-Proto` set where a front has not set them.
 */
export function requestHeaders(req: IncomingMessage, { authority, clientAddress, upgrade }: RequestHeaderOptions): string[] {
  const headers = endToEnd(req, (name) => name === 'host' || name === 'x-forwarded-for')
  headers.push('Host', authority)
  const forwardedFor = req.headers['x-forwarded-for']
  headers.push('X-Forwarded-For', forwardedFor === undefined ? clientAddress : `${String(forwardedFor)}, ${clientAddress}`)
  if (req.headers['x-forwarded-host'] === undefined) headers.push('X-Forwarded-Host', authority)
  if (req.headers['x-forwarded-proto'] === undefined) headers.push('X-Forwarded-Proto', 'http')
  if (/(?:^|,)\s*trailers\s*(?:,|$)/i.test(String(req.headers['te'] ?? ''))) headers.push('TE', 'trailers')
  if (upgrade !== undefined) headers.push('Connection', 'Upgrade', 'Upgrade', upgrade)
  return [...headers, ...requestFraming(req)]
}

function requestFraming(req: IncomingMessage): string[] {
  if (isChunked(req)) return ['Transfer-Encoding', 'chunked', ...trailerNames(req)]
  if (req.headers['content-length'] === undefined && !BODILESS_BY_DEFAULT.has(req.method ?? '')) return ['Content-Length', '0']
  return []
}

/**
 * The headers for the client, as name, value, name, value. `keepsTrailers` says that the answer will be chunked: elsewhere an
 * announcement of trailers cannot be kept.
 */
export function responseHeaders(answer: IncomingMessage, keepsTrailers: boolean): string[] {
  const headers = endToEnd(answer, () => false)
  return keepsTrailers && isChunked(answer) ? [...headers, ...trailerNames(answer)] : headers
}

export function isChunked(message: IncomingMessage): boolean {
  return message.headers['transfer-encoding'] !== undefined
}

/** Flat raw headers as the pairs that `addTrailers` takes. */
export function toPairs(raw: readonly string[]): [string, string][] {
  const pairs: [string, string][] = []
  for (let i = 0; i + 1 < raw.length; i += 2) pairs.push([raw[i] ?? '', raw[i + 1] ?? ''])
  return pairs
}

function trailerNames({ headers }: IncomingMessage): string[] {
  return headers.trailer === undefined ? [] : ['Trailer', headers.trailer]
}

function endToEnd(message: IncomingMessage, isReplaced: (lowerName: string) => boolean): string[] {
  const nominated = nominatedHeaders(message.headers.connection)
  const { rawHeaders } = message
  const kept: string[] = []
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    const lower = name.toLowerCase()
    if (HOP_BY_HOP.has(lower) || nominated?.has(lower) === true || isReplaced(lower)) continue
    kept.push(name, rawHeaders[i + 1] ?? '')
  }
  return kept
}

/** Names that the sender declares to be for this connection only. */
function nominatedHeaders(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || /^(?:keep-alive|close|upgrade)$/i.test(connection)) return undefined
  const names = connection
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
  return new Set(names.filter((name) => !NEVER_DROPPED.has(name)))
}
