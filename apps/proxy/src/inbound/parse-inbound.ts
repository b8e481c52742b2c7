import { badRequest, ProxyError } from '../answers/proxy-error.ts'
import { hasBody, isChunked } from '../message/head.ts'
import { ACCESS_TOKEN } from '../message/token-headers.ts'
import { findReservedPath } from './guard.ts'
import { DAEMON_PORT, parseSandboxAddress } from './host.ts'
import { parseRequestTarget } from './request-target.ts'
import { accessTokenProof, signedUrlProof, type TokenProof } from './token-proof.ts'
import type { RequestHead } from '../message/downstream-message.ts'

/** The destination of a request. One for the daemon may prove that its client has the token of a sandbox, instead of naming the sandbox. */
type Place =
  | { readonly sandboxId: string; readonly port: number }
  | { readonly sandboxId: undefined; readonly port: typeof DAEMON_PORT; readonly proof: TokenProof | undefined }

/** All that the proxy needs from the head of a request, read once. The sandbox may not exist. */
export interface Inbound {
  readonly place: Place
  readonly method: string
  /** Path and query as sent to the sandbox: origin form, or `*`. */
  readonly path: string
  /** Host and optional port, as the client wrote them. */
  readonly authority: string
  /** The protocol to ask the sandbox for, when the request is an upgrade. */
  readonly upgrade: string | undefined
  readonly hasBody: boolean
  /** The client speaks HTTP/1.0: no chunks, no interim answers. */
  readonly isOldHttp: boolean
  /** The client waits for `100 Continue` before it sends its body. */
  readonly expectsContinue: boolean
}

export interface InboundOptions {
  /** Names of hosts, in addition to the documented ones, on which the two headers are used. */
  readonly headerHosts: ReadonlySet<string>
  /** The request asks for another protocol and is forwarded as such. */
  readonly isUpgrade?: boolean
}

const FILES_PATH = /^\/files(?:\?|$)/i
const OPERATIONS: ReadonlyMap<string | undefined, 'read' | 'write'> = new Map([
  ['GET', 'read'],
  ['POST', 'write'],
])

/**
 * Reads the head of a request: steps 1 and 2 of control-plane.md 19.2, the address and the daemon's reserved routes.
 *
 * @throws ProxyError `bad_request` for a head that two parsers could read differently, `reserved_route`
 */
export function parseInbound(req: RequestHead, { headerHosts, isUpgrade = false }: InboundOptions): Inbound {
  const { method = 'GET', headers, rawHeaders } = req
  // Node uses the first of two Host headers; a service might use the second.
  if (countHosts(rawHeaders) > 1) throw badRequest('Invalid host')
  const target = parseRequestTarget(req.url ?? '', headers.host ?? '')
  if (target === undefined) throw badRequest('Invalid request target')
  if (isChunked(req) && headers['transfer-encoding']?.toLowerCase() !== 'chunked') throw badRequest('Invalid transfer coding')
  const { authority, path } = target
  const source = { authority, idHeader: headers['e2b-sandbox-id']?.toString(), portHeader: headers['e2b-sandbox-port']?.toString() }
  const address = parseSandboxAddress(source, headerHosts) ?? (isUpgrade ? 'Invalid host' : undefined)
  if (typeof address === 'string') throw badRequest(address)
  const place = address ?? parseUnnamed(req, path)
  const reserved = place.port === DAEMON_PORT ? findReservedPath(path) : undefined
  if (reserved !== undefined) throw new ProxyError({ kind: 'reserved_route', path: reserved, sandboxId: place.sandboxId })
  return {
    place,
    method,
    path,
    authority,
    upgrade: isUpgrade ? (headers.upgrade ?? '') : undefined,
    hasBody: hasBody(req),
    isOldHttp: req.httpVersion === '1.0',
    expectsContinue: headers.expect !== undefined,
  }
}

/** @throws ProxyError `bad_request` when the request cannot be for the daemon of a sandbox */
function parseUnnamed({ method = 'GET', headers }: RequestHead, path: string): Place {
  const isForFiles = FILES_PATH.test(path)
  const operation = isForFiles ? OPERATIONS.get(method) : undefined
  const token = headers[ACCESS_TOKEN]
  const signed = operation === undefined ? undefined : signedUrlProof(operation, path.slice(path.indexOf('?') + 1))
  const proof = signed ?? (typeof token === 'string' ? accessTokenProof(token) : undefined)
  if (proof === undefined && !isForFiles && !announcesToken(method, headers)) throw badRequest('Invalid host')
  return { sandboxId: undefined, port: DAEMON_PORT, proof }
}

/** A browser asks, without the token, whether a script may send it. */
function announcesToken(method: string, headers: RequestHead['headers']): boolean {
  const names = headers['access-control-request-headers'] ?? ''
  // Not `split(/\s*,\s*/)`, which takes seconds for a name with many blanks in it.
  return (
    method === 'OPTIONS' &&
    names
      .toLowerCase()
      .split(',')
      .some((name) => name.trim() === ACCESS_TOKEN)
  )
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') count += 1
  return count
}
