import { ProxyError } from '../answers/proxy-error.ts'
import { explainSilence } from './await-answer.ts'
import type { Exchange } from './find-exchange.ts'
import { StaleRoute } from './follow-route.ts'
import { ClientGone, whileTracked, type Forwarding } from './forwarding.ts'
import { breakOff } from './open-tunnel.ts'
import { openUpstream } from './open-upstream.ts'
import { transfer, type Transfer } from './transfer.ts'

type Client = Pick<Transfer, 'res' | 'onAnswer'>

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
  const { isDaemon, inbound, sandboxId } = exchange
  // A safe request without a body may be sent again after a failure without an answer.
  const isRepeatable = SAFE_METHODS.has(inbound.method) && !inbound.hasBody
  await whileTracked(forwarding, exchange, async (signal) => {
    for (let reuse = isDaemon; ; reuse = false) {
      const upstream = await openUpstream(forwarding, { exchange, reuse }, signal)
      try {
        return await transfer({ exchange, ...client, upstream, limits: forwarding.limits }, signal)
      } catch (err) {
        breakOff(upstream)
        if (err instanceof ClientGone || res.headersSent) throw err
        // An idle connection may have closed before the request arrived.
        if (!(err instanceof ProxyError) && upstream.reusedSocket && isRepeatable) continue
        const error = err instanceof ProxyError ? err : await explainSilence(forwarding, exchange, err)
        // The next run of the sandbox may answer.
        throw isRepeatable && error.problem.kind === 'not_found' ? new StaleRoute(sandboxId, error) : error
      }
    }
  })
}
