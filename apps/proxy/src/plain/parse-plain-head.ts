import type { IncomingHttpHeaders } from 'node:http'
import { trimBlanks } from '../message/trim-blanks.ts'

/** The head of a plain request. */
export interface PlainHead {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** Name, value, name, value. */
  readonly rawHeaders: readonly string[]
  /** Of the body; `chunked` when only its end shows it. */
  readonly contentLength: number | 'chunked'
  /** False: the client wants the connection closed behind the answer. */
  readonly keepsAlive: boolean
  /** Bytes of the head, with its empty line. */
  readonly length: number
}

/** Methods whose requests Node would not treat specially. */
const REQUEST_LINE = /^(GET|POST|PUT|PATCH|DELETE) (\/[\x21-\x7e]*) HTTP\/1\.1$/
const HEADER = /^[\w!#$%&'*+\-.^`|~]+:[\t\x20-\x7e\x80-\xff]*$/
const LENGTH = /^\d{1,15}$/

/** Headers that change how a message is framed or what follows it. */
const NOT_PLAIN: ReadonlySet<string> = new Set([
  'expect',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
])

/**
 * Reads the head of a request that every parser of HTTP/1.1 reads in the same way (RFC 9112): it has arrived whole, each line ends with CR LF,
 * no header is folded or repeated, it has one host, its body is empty, has a length or is in chunks, and it asks for nothing about its connection but its end.
 *
 * Returns undefined for all other bytes. They may be a valid request.
 *
 * @param bytes what has arrived, from the first byte of the head on
 */
export function parsePlainHead(bytes: Buffer, maxBytes: number): PlainHead | undefined {
  const end = bytes.indexOf('\r\n\r\n', 0, 'latin1')
  if (end === -1 || end + 4 > maxBytes) return undefined
  const lines = bytes.toString('latin1', 0, end).split('\r\n')
  const [, method, url] = REQUEST_LINE.exec(lines[0] ?? '') ?? []
  if (method === undefined || url === undefined) return undefined
  const rawHeaders: string[] = []
  const headers: Record<string, string> = Object.create(null) as Record<string, string>
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i] ?? ''
    if (!HEADER.test(line)) return undefined
    const colon = line.indexOf(':')
    const name = line.slice(0, colon)
    const lower = name.toLowerCase()
    if (lower in headers || NOT_PLAIN.has(lower)) return undefined
    const value = trimBlanks(line, colon + 1)
    headers[lower] = value
    rawHeaders.push(name, value)
  }
  const { host, connection } = headers
  const keepsAlive = connection === undefined || connection.toLowerCase() === 'keep-alive'
  if (host === undefined || (!keepsAlive && connection.toLowerCase() !== 'close')) return undefined
  const contentLength = readLength(headers)
  return contentLength === undefined ? undefined : { method, url, headers, rawHeaders, contentLength, keepsAlive, length: end + 4 }
}

function readLength({ 'content-length': length, 'transfer-encoding': coding }: IncomingHttpHeaders): number | 'chunked' | undefined {
  if (coding !== undefined) return length === undefined && coding.toLowerCase() === 'chunked' ? 'chunked' : undefined
  if (length === undefined) return 0
  return LENGTH.test(length) ? Number(length) : undefined
}
