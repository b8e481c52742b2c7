import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerError } from './answer-error.ts'
import { answerKind } from './answer-kind.ts'
import type { ProxyContext } from './context.ts'
import { findExchange } from './forward/find-exchange.ts'
import { followRoute } from './forward/follow-route.ts'
import { forwardRequest } from './forward/forward-request.ts'
import { ClientGone } from './forward/forwarding.ts'
import { DAEMON_PORT } from './inbound/host.ts'
import { parseInbound, type Inbound } from './inbound/parse-inbound.ts'

/** Serves one request to its end. Never rejects. */
export async function serveRequest(ctx: ProxyContext, req: IncomingMessage, res: ServerResponse): Promise<void> {
  let inbound: Inbound | undefined
  const began = performance.now()
  try {
    const parsed = parseInbound(req, { headerHosts: ctx.headerHosts })
    inbound = parsed
    const onAnswer = (): void => ctx.metrics.timeAnswer(answerKind(parsed), performance.now() - began)
    await followRoute(async () => forwardRequest(ctx, await findExchange(req, parsed, ctx.finders), { res, onAnswer }))
    ctx.metrics.countRequest('forwarded')
  } catch (err) {
    if (err instanceof ClientGone) return
    answerError(ctx, { req, res, err, isDaemon: inbound?.place.port === DAEMON_PORT })
  }
}
