import type { Socket } from 'node:net'
import type { ConnectionTracker, ResetReason } from '../routes/connection-tracker.ts'
import type { Exchange } from './exchange.ts'
import type { Upstreams } from './open-upstream.ts'
import { ProxyError } from '../answers/proxy-error.ts'
import type { LiveRoute } from '../routes/route.ts'

/** What forwarding needs of the proxy. */
export interface Forwarding extends Upstreams {
  readonly tracker: ConnectionTracker
}

/** The client closed its connection: nobody is left to be told anything. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

/**
 * Runs `work` for one client connection to one start of a sandbox. Its signal aborts with a `ProxyError` when the sandbox goes and
 * with `ClientGone` when the client does; the latter ends the work without an error.
 */
export async function whileTracked(
  tracker: ConnectionTracker,
  { route, socket }: { readonly route: LiveRoute; readonly socket: Socket },
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (socket.destroyed) return
  const ended = new AbortController()
  const connection = { route, reset: (kind: ResetReason) => ended.abort(new ProxyError({ kind, sandboxId: route.sandboxId })) }
  // The socket, because an answer that waits behind another of the same connection is not told when that ends.
  const onClose = (): void => ended.abort(new ClientGone())
  socket.once('close', onClose)
  tracker.open(connection)
  try {
    await work(ended.signal)
  } catch (err) {
    if (!(err instanceof ClientGone)) throw err
  } finally {
    tracker.close(connection)
    socket.off('close', onClose)
  }
}

/** What a client is told when a connected sandbox did not answer: that it is gone, or that its service failed. */
export async function explainSilence(forwarding: Forwarding, { address, route }: Exchange, cause: unknown): Promise<ProxyError> {
  const { sandboxId, port } = address
  const isRunning = await forwarding.isCurrent(route)
  return new ProxyError(isRunning ? { kind: 'no_answer', sandboxId, port } : { kind: 'not_found', sandboxId }, cause)
}
