import type { IncomingMessage } from 'node:http'
import { ProxyError, toProxyError } from '../answers/proxy-error.ts'
import { DAEMON_PORT } from '../inbound/host.ts'
import type { Inbound } from '../inbound/parse-inbound.ts'
import type { SignedUrl } from '../inbound/signed-url.ts'
import type { LiveRoute } from '../routes/route.ts'

/** A request with its destination: everything is checked, nothing was sent yet. */
export interface Exchange {
  readonly req: IncomingMessage
  readonly inbound: Inbound
  readonly sandboxId: string
  readonly route: LiveRoute
  readonly isDaemon: boolean
  /** The port on the route's host. */
  readonly port: number
}

export interface Finders {
  /** @throws ProxyError when no sandbox has signed the URL */
  readonly signed: (url: SignedUrl, req: IncomingMessage) => Promise<string>
  readonly route: (sandboxId: string) => Promise<LiveRoute | undefined>
}

/**
 * Step 3 of control-plane.md 19.2: finds the running sandbox.
 *
 * @throws ProxyError `not_found`; `unavailable` when the routes cannot be read; `port_closed` for the daemon's port on the runtime's
 * host, when it differs from the public port: only the public port is guarded
 */
export async function findExchange(req: IncomingMessage, inbound: Inbound, finders: Finders): Promise<Exchange> {
  const { place } = inbound
  const sandboxId = place.sandboxId ?? (await findSigned(req, place.signed, finders))
  const route = await finders.route(sandboxId).catch((err: unknown) => {
    throw err instanceof ProxyError ? err : new ProxyError({ kind: 'unavailable', sandboxId }, err)
  })
  if (route === undefined) throw new ProxyError({ kind: 'not_found', sandboxId })
  const { daemonPort } = route.endpoint
  const isDaemon = place.port === DAEMON_PORT
  if (!isDaemon && place.port === daemonPort) throw new ProxyError({ kind: 'port_closed', sandboxId, port: place.port })
  return { req, inbound, sandboxId, route, isDaemon, port: isDaemon ? daemonPort : place.port }
}

async function findSigned(req: IncomingMessage, url: SignedUrl | undefined, { signed }: Finders): Promise<string> {
  if (url === undefined) {
    throw new ProxyError({ kind: 'bad_request', message: 'Invalid host: it names no sandbox, and the URL is not a signed one' })
  }
  return await signed(url, req).catch((err: unknown) => {
    throw toProxyError(err)
  })
}
