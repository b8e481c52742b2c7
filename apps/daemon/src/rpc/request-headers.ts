import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { firstHeader } from '../http/request-header.ts'
import type { MethodKind } from './rpc-methods.ts'

/** The headers that the library and the services read. */
const READ = /^(?:content-|accept-encoding$|connect-|grpc-|keepalive-ping-interval$)/
/** The longest wait of a Node timer, 24 days and longer than any sandbox lives. A longer one would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Keeps only the headers that the library reads, in a form that it accepts: the first of repeated headers, as upstream; no empty headers; no
 * timeout beyond the longest timer.
 */
export function prepareHeaders(request: IncomingMessage): void {
  // The library builds a URL with the host, which it does not use, and fails for a missing or malformed one.
  const headers: IncomingHttpHeaders = { host: 'daemon' }
  for (const name of Object.keys(request.headers)) {
    const value = READ.test(name) ? firstHeader(request, name) : ''
    if (value !== '') headers[name] = value
  }
  // Without an accepted encoding the library compresses the answer like the request, which some clients cannot read (envd.md 6.5).
  if (headers['content-encoding'] !== undefined) headers['accept-encoding'] ??= 'identity'
  if (headers['connect-content-encoding'] !== undefined) headers['connect-accept-encoding'] ??= 'identity'
  if (headers['grpc-encoding'] !== undefined) headers['grpc-accept-encoding'] ??= 'identity'
  const timeout = headers['connect-timeout-ms']
  if (typeof timeout === 'string' && /^\d{10}$/.test(timeout)) {
    headers['connect-timeout-ms'] = String(Math.min(Number(timeout), LONGEST_TIMER_MS))
  }
  request.headers = headers
}

const GRPC_WEB_FORMS = ['grpc-web', 'grpc-web+json', 'grpc-web+json; charset=utf-8', 'grpc-web+proto']
const STREAM_FORMS = ['connect+json', 'connect+json; charset=utf-8', 'connect+proto', ...GRPC_WEB_FORMS]
const FORMS: Readonly<Record<MethodKind, readonly string[]>> = {
  unary: [...GRPC_WEB_FORMS, 'json', 'json; charset=utf-8', 'proto'],
  server_stream: STREAM_FORMS,
  client_stream: STREAM_FORMS,
}
/** A media type without parameters, or with the only supported charset. */
const MEDIA_TYPE = /^application\/([^\s;]+)\s*(?:;\s*(charset="?utf-8"?)?\s*)?$/i

/** The media type of a call in its plain spelling; undefined if the kind of method does not accept it (envd.md 6.1). */
export function readMediaType(header: string | undefined, kind: MethodKind): string | undefined {
  const [, name = '', charset] = MEDIA_TYPE.exec(header ?? '') ?? []
  const form = name.toLowerCase() + (charset === undefined ? '' : '; charset=utf-8')
  return FORMS[kind].includes(form) ? `application/${form}` : undefined
}

/** The value of `Accept-Post` for a kind of method. */
export function listMediaTypes(kind: MethodKind): string {
  return FORMS[kind].map((form) => `application/${form}`).join(', ')
}
