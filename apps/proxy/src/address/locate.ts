import type { IncomingMessage } from 'node:http'
import type { Exchange } from '../forward/exchange.ts'
import { findReservedPath } from './guard.ts'
import { isChunked } from '../forward/headers.ts'
import { DAEMON_PORT, parseSandboxAddress, type AddressSource, type SandboxAddress } from './host.ts'
import { ProxyError } from '../answers/proxy-error.ts'
import { parseRequestTarget, type RequestTarget } from './request-target.ts'
import type { LiveRoute } from '../routes/route.ts'

/** A request's place as far as its head says it; the sandbox may not exist. */
export interface Location {
  readonly target: RequestTarget
  readonly address: SandboxAddress
}

/**
 * Steps 1 and 2 of control-plane.md 19.2: the address, then the daemon's routes that are not for clients.
 *
 * @throws ProxyError `bad_request`, `reserved_route`
 */
export function locate(req: IncomingMessage, headerHosts: ReadonlySet<string>): Location {
  const target = readTarget(req)
  const address = parseSandboxAddress(addressSource(req, target), headerHosts)
  if (typeof address === 'string') throw badRequest(address)
  const reserved = address.port === DAEMON_PORT ? findReservedPath(target.path) : undefined
  if (reserved !== undefined) throw new ProxyError({ kind: 'reserved_route', path: reserved })
  return { target, address }
}

/**
 * Step 3: the running sandbox.
 *
 * @throws ProxyError `not_found`; `unavailable` when the routes cannot be read
 */
export async function findRoute(
  req: IncomingMessage,
  { target, address }: Location,
  find: (sandboxId: string) => Promise<LiveRoute | undefined>,
): Promise<Exchange> {
  const { sandboxId } = address
  const route = await find(sandboxId).catch((err: unknown) => {
    throw new ProxyError({ kind: 'unavailable', sandboxId }, err)
  })
  if (route === undefined) throw new ProxyError({ kind: 'not_found', sandboxId })
  return { req, target, address, route }
}

/**
 * Reads where a request wants to go.
 *
 * @throws ProxyError `bad_request` where readers of it could differ
 */
export function readTarget(req: IncomingMessage): RequestTarget {
  const target = parseRequestTarget(req.url ?? '', getHost(req))
  if (target === undefined) throw badRequest('Invalid request target')
  if (isChunked(req) && req.headers['transfer-encoding']?.toLowerCase() !== 'chunked') throw badRequest('Invalid transfer coding')
  return target
}

export function addressSource(req: IncomingMessage, { authority }: RequestTarget): AddressSource {
  return { authority, idHeader: getHeader(req, 'e2b-sandbox-id'), portHeader: getHeader(req, 'e2b-sandbox-port') }
}

/** Node keeps the first of two Host headers and a service behind it might read the second. */
function getHost(req: IncomingMessage): string {
  const hosts = req.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')
  if (hosts.length > 1) throw badRequest('Invalid host')
  return req.headers.host ?? ''
}

function getHeader(req: IncomingMessage, name: string): string | undefined {
  return req.headers[name]?.toString()
}

function badRequest(message: string): ProxyError {
  return new ProxyError({ kind: 'bad_request', message })
}
