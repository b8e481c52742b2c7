import type { IncomingMessage } from 'node:http'
import type { Span } from '@sandyard/kit/tracing/span'
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
import { inRequestScope, requestIdHeader } from './request-scope.ts'

/**
 * Whether a request that offers another protocol is forwarded as an upgrade. Some clients offer `h2c` with every ordinary request; these
 * offers may be ignored. A request with a body is an ordinary one, because its body must end before another protocol begins.
 */
export function isForwardedUpgrade(req: IncomingMessage): boolean {
  return req.headers.upgrade?.toLowerCase() !== 'h2c' && !hasBody(req)
}

/** Serves one upgrade until both of its connections are closed. Never rejects. */
export function serveUpgrade(ctx: ProxyContext, req: IncomingMessage, head: Buffer): Promise<void> {
  return inRequestScope(req, async (span) => {
    const outcome = await serve(ctx, { req, head, span })
    span?.set({ 'sandyard.outcome': outcome })
    span?.end()
  })
}

interface Served {
  readonly req: IncomingMessage
  readonly head: Buffer
  readonly span: Span | undefined
}

/** Returns how it ended. */
async function serve(ctx: ProxyContext, { req, head, span }: Served): Promise<string> {
  try {
    const inbound = parseInbound(req, { headerHosts: ctx.headerHosts, isUpgrade: true })
    using ahead = readAhead(req.socket, head)
    await followRoute(async () => {
      const exchange = await findExchange(req, inbound, ctx.finders)
      span?.set({ 'sandyard.sandbox_id': exchange.sandboxId, 'sandyard.port': inbound.place.port, 'sandyard.upgrade': inbound.upgrade })
      await forwardUpgrade(ctx, exchange, ahead)
    })
    ctx.metrics.countRequest('forwarded')
    return 'forwarded'
  } catch (err) {
    if (err instanceof ClientGone) return 'client_gone'
    const error = toProxyError(err)
    refuseUpgrade(ctx, req, error)
    return error.problem.kind
  }
}

/** Answers an upgrade in HTTP and closes its connection. */
export function refuseUpgrade(ctx: ProxyContext, req: IncomingMessage, error: ProxyError): void {
  logProblem(ctx, error)
  const { body, status, headers } = renderProblem(error.problem, req)
  endWithAnswer(req.socket, { status, headers: [...headers, ...requestIdHeader(req)] }, body)
}
