import { ProxyError } from '../answers/proxy-error.ts'
import type { ConnectionTracker, ResetReason } from '../routes/connection-tracker.ts'
import type { Exchange } from './find-exchange.ts'
import type { Upstreams } from './open-upstream.ts'
import type { InterimLimits } from './relay-interim.ts'
import type { UpstreamPool } from './upstream-pool.ts'
import type { RequestHead } from '../message/downstream-message.ts'

/** The parts of the proxy that forwarding needs. */
export interface Forwarding extends Upstreams {
  readonly tracker: ConnectionTracker
  readonly pool: UpstreamPool
  readonly limits: InterimLimits
  /** The client that a request counts for, or undefined when no client can be named. */
  readonly clientOf: (req: RequestHead) => string | undefined
}

/** The client closed its connection: no answer can be sent. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

/**
 * Runs `work` for one client connection to one start of a sandbox. Its signal aborts with a `ProxyError` when the sandbox ends and
 * with `ClientGone` when the client disconnects; the latter ends the work without an error.
 *
 * @throws ProxyError `limit` when the sandbox, or this client of it, has reached its cap of connections
 */
export async function whileTracked(
  { tracker, clientOf }: Pick<Forwarding, 'tracker' | 'clientOf'>,
  { route, sandboxId, req }: Exchange,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { socket } = req
  if (socket.destroyed) return
  const ended = new AbortController()
  const connection = { route, client: clientOf(req), reset: (kind: ResetReason) => ended.abort(new ProxyError({ kind, sandboxId })) }
  const refusal = tracker.open(connection)
  if (refusal !== undefined) {
    const cap = refusal.of === 'all' ? 'sandbox_connections' : 'sandbox_client_connections'
    throw new ProxyError({ kind: 'limit', cap, limit: refusal.limit, sandboxId })
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
