import { ProxyError } from '../answers/proxy-error.ts'
import { explainSilence } from './await-answer.ts'
import type { Exchange } from './find-exchange.ts'
import { StaleRoute } from './follow-route.ts'
import { ClientGone, whileTracked, type Forwarding } from './forwarding.ts'
import { openUpstream } from './open-upstream.ts'
import { Transfer, type TransferParts } from './transfer.ts'
import { UpstreamConnection } from './upstream-connection.ts'

type Client = Pick<TransferParts, 'res' | 'onAnswer'>

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Sends a request to its sandbox and the answer back, both as streams: bytes that arrive on one side are sent to the other at once, at
 * the pace of the slower side, and a failure of one side ends the other. There is no time limit.
 *
 * Resolves when the client has its answer or has disconnected.
 *
 * @throws ProxyError for the client if it has not received the head of an answer; after that, any error means that the answer cannot
 * be completed
 */
export async function forwardRequest(forwarding: Forwarding, exchange: Exchange, client: Client): Promise<void> {
  const { res } = client
  const { pool, limits } = forwarding
  const { isDaemon, inbound, sandboxId, route } = exchange
  // A safe request without a body may be sent again after a failure without an answer.
  const isRepeatable = SAFE_METHODS.has(inbound.method) && !inbound.hasBody
  await whileTracked(forwarding, exchange, async (signal) => {
    for (let reuse = isDaemon; ; reuse = false) {
      const idle = reuse ? pool.take(route) : undefined
      const connection = idle ?? new UpstreamConnection(await openUpstream(forwarding, exchange, signal))
      const keep = isDaemon ? (): void => pool.keep(route, connection) : undefined
      try {
        return await new Transfer({ exchange, connection, ...client, limits, keep }).run(signal)
      } catch (err) {
        if (err instanceof ClientGone || res.headersSent) throw err
        // An idle connection may have closed before the request arrived.
        if (!(err instanceof ProxyError) && connection.isReused && isRepeatable) continue
        const error = err instanceof ProxyError ? err : await explainSilence(forwarding, exchange, err)
        // The next run of the sandbox may answer.
        throw isRepeatable && error.problem.kind === 'not_found' ? new StaleRoute(sandboxId, error) : error
      }
    }
  })
}
