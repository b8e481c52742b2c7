import { ProxyError } from '../answers/proxy-error.ts'
import type { ConnectionTracker, ResetReason } from '../routes/connection-tracker.ts'
import type { Exchange } from './find-exchange.ts'
import type { Upstreams } from './open-upstream.ts'
import type { InterimLimits } from './relay-interim.ts'

/** The parts of the proxy that forwarding needs. */
export interface Forwarding extends Upstreams {
  readonly tracker: ConnectionTracker
  readonly limits: InterimLimits
}

/** The client closed its connection: no answer can be sent. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

/**
 * Runs `work` for one client connection to one start of a sandbox. Its signal aborts with a `ProxyError` when the sandbox ends and
 * with `ClientGone` when the client disconnects; the latter ends the work without an error.
 *
 * @throws ProxyError `limit` when the sandbox has reached its cap of connections
 */
export async function whileTracked(
  tracker: ConnectionTracker,
  { route, sandboxId, req: { socket } }: Exchange,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (socket.destroyed) return
  const ended = new AbortController()
  const connection = { route, reset: (kind: ResetReason) => ended.abort(new ProxyError({ kind, sandboxId })) }
  if (!tracker.open(connection)) {
    throw new ProxyError({ kind: 'limit', cap: 'sandbox_connections', limit: tracker.maxConnections, sandboxId })
  }
  const onClose = (): void => ended.abort(new ClientGone())
  socket.once('close', onClose)
  try {
    await work(ended.signal)
  } catch (err) {
    if (!(err instanceof ClientGone)) throw err
  } finally {
    tracker.close(connection)
    socket.off('close', onClose)
  }
}
