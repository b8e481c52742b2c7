import type { IncomingMessage } from 'node:http'
import { logProblem } from './answer-error.ts'
import { toProxyError, type ProxyError } from './answers/proxy-error.ts'
import { endWithAnswer } from './answers/raw-answer.ts'
import { renderProblem } from './answers/render-problem.ts'
import type { ProxyContext } from './context.ts'
import { findExchange } from './forward/find-exchange.ts'
import { followRoute } from './forward/follow-route.ts'
import { forwardUpgrade } from './forward/forward-upgrade.ts'
import { ClientGone } from './forward/forwarding.ts'
import { readAhead } from './forward/read-ahead.ts'
import { parseInbound } from './inbound/parse-inbound.ts'
import { hasBody } from './message/head.ts'

/**
 * Whether a request that offers another protocol is forwarded as an upgrade. Some clients offer `h2c` with every ordinary request; these
 * offers may be ignored. A request with a body is an ordinary one, because its body must end before another protocol begins.
 */
export function isForwardedUpgrade(req: IncomingMessage): boolean {
  return req.headers.upgrade?.toLowerCase() !== 'h2c' && !hasBody(req)
}

/** Serves one upgrade until both of its connections are closed. Never rejects. */
export async function serveUpgrade(ctx: ProxyContext, req: IncomingMessage, head: Buffer): Promise<void> {
  try {
    const inbound = parseInbound(req, { headerHosts: ctx.headerHosts, isUpgrade: true })
    using ahead = readAhead(req.socket, head)
    await followRoute(async () => forwardUpgrade(ctx, await findExchange(req, inbound, ctx.finders), ahead))
    ctx.metrics.countRequest('forwarded')
  } catch (err) {
    if (err instanceof ClientGone) return
    refuseUpgrade(ctx, req, toProxyError(err))
  }
}

/** Answers an upgrade in HTTP and closes its connection. */
export function refuseUpgrade(ctx: ProxyContext, req: IncomingMessage, error: ProxyError): void {
  logProblem(ctx, error)
  const { body, ...answer } = renderProblem(error.problem, req)
  endWithAnswer(req.socket, answer, body)
}
