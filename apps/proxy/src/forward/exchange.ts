import type { IncomingMessage } from 'node:http'
import { requestHeaders } from './headers.ts'
import { DAEMON_PORT, type SandboxAddress } from '../address/host.ts'
import type { UpstreamCall } from './open-upstream.ts'
import { ProxyError } from '../answers/proxy-error.ts'
import type { RequestTarget } from '../address/request-target.ts'
import type { LiveRoute } from '../routes/route.ts'

/** A request with its place: everything is checked, nothing is sent yet. */
export interface Exchange {
  readonly req: IncomingMessage
  readonly target: RequestTarget
  readonly address: SandboxAddress
  readonly route: LiveRoute
}

/**
 * What to send to the sandbox for an exchange.
 *
 * @throws ProxyError `port_closed` for the number under which a runtime serves the daemon, where that differs from the public
 * one: only the public one is guarded
 */
export function toUpstreamCall({ req, target, address, route }: Exchange, upgrade?: string): UpstreamCall {
  const { sandboxId, port } = address
  const isDaemon = port === DAEMON_PORT
  if (!isDaemon && port === route.endpoint.daemonPort) throw new ProxyError({ kind: 'port_closed', sandboxId, port })
  const clientAddress = (req.socket.remoteAddress ?? '').replace(/^::ffff:/, '')
  return {
    address,
    route,
    port: isDaemon ? route.endpoint.daemonPort : port,
    method: req.method ?? 'GET',
    path: target.path,
    headers: requestHeaders(req, { authority: target.authority, clientAddress, upgrade }),
    reuse: isDaemon && upgrade === undefined,
  }
}
