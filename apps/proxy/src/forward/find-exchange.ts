import { isIP } from 'node:net'
import { ProxyError, toProxyError } from '../answers/proxy-error.ts'
import { DAEMON_PORT } from '../inbound/host.ts'
import type { Inbound } from '../inbound/parse-inbound.ts'
import type { TokenProof } from '../inbound/token-proof.ts'
import { upstreamHeaders } from '../inbound/upstream-headers.ts'
import type { LiveRoute, Route } from '../routes/route.ts'
import type { DownstreamRequest, RequestHead } from '../message/downstream-message.ts'

/** A request with its destination: everything is checked, nothing was sent yet. */
export interface Exchange {
  readonly req: DownstreamRequest
  readonly inbound: Inbound
  readonly sandboxId: string
  readonly route: LiveRoute
  readonly isDaemon: boolean
  /** The port on the route's host. */
  readonly port: number
  /** The name that the service sees in the TLS handshake; undefined: the connection is plain. */
  readonly tlsName: string | undefined
  /** For the sandbox: name, value, name, value. */
  readonly headers: readonly string[]
}

/** A request for one port of a sandbox. */
export interface Visit {
  readonly req: RequestHead
  readonly sandboxId: string
  readonly isDaemon: boolean
}

export interface Finders {
  /** @throws ProxyError when no sandbox has the token */
  readonly proven: (proof: TokenProof, req: RequestHead) => Promise<string>
  /** The route of a running sandbox that was read before. */
  readonly known: (sandboxId: string) => LiveRoute | undefined
  /**
   * The route of the running sandbox, after a wait or a resume if needed.
   *
   * @throws ProxyError when it does not run; ClientGone
   */
  readonly live: (visit: Visit) => Promise<LiveRoute>
  /** The check of the traffic token; undefined when there is none to check. It rejects with ProxyError `traffic_token`. */
  readonly checkTraffic: (visit: Visit, route: Route) => Promise<void> | undefined
}

/**
 * Steps 3 and 4 of control-plane.md 19.2: finds the running sandbox and checks the traffic token.
 *
 * @throws ProxyError of the finders; `unavailable` when the routes cannot be read; `port_closed` for the daemon's port on the runtime's
 * host, when it differs from the public port: only the public port is guarded
 */
export async function findExchange(req: DownstreamRequest, inbound: Inbound, finders: Finders): Promise<Exchange> {
  const { place, authority, upgrade } = inbound
  const sandboxId = place.sandboxId ?? (await findProven(req, place.proof, finders))
  const isDaemon = place.port === DAEMON_PORT
  const visit = { req, sandboxId, isDaemon }
  const route = finders.known(sandboxId) ?? (await finders.live(visit))
  await finders.checkTraffic(visit, route)
  const { daemonPort } = route.endpoint
  if (!isDaemon && place.port === daemonPort) throw new ProxyError({ kind: 'port_closed', sandboxId, port: place.port })
  const maskHost = isDaemon ? undefined : route.maskHost?.replaceAll('${PORT}', String(place.port))
  const headers = upstreamHeaders(req, { authority, maskHost, upgrade })
  const tlsName = !isDaemon && route.httpsPorts.includes(place.port) ? hostnameOf(maskHost ?? authority) : undefined
  return { req, inbound, sandboxId, route, isDaemon, port: isDaemon ? daemonPort : place.port, tlsName, headers }
}

async function findProven(req: RequestHead, proof: TokenProof | undefined, { proven }: Finders): Promise<string> {
  if (proof === undefined) {
    throw new ProxyError({
      kind: 'bad_request',
      message: 'Invalid host: it names no sandbox, and the request has neither a signature nor an access token',
    })
  }
  return await proven(proof, req).catch((err: unknown) => {
    throw toProxyError(err)
  })
}

/** Without the port. An address, which is no name of a handshake, is the empty name. */
function hostnameOf(authority: string): string {
  const host = authority.replace(/:\d*$/, '')
  return isIP(host.replace(/^\[|\]$/g, '')) === 0 ? host : ''
}
