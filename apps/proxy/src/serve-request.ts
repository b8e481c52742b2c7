import type { Span } from '@sandyard/kit/tracing/span'
import { answerError } from './answer-error.ts'
import { answerKind } from './answer-kind.ts'
import { toProxyError } from './answers/proxy-error.ts'
import type { ProxyContext } from './context.ts'
import { findExchange } from './forward/find-exchange.ts'
import { followRoute } from './forward/follow-route.ts'
import { forwardRequest } from './forward/forward-request.ts'
import { ClientGone } from './forward/forwarding.ts'
import { DAEMON_PORT } from './inbound/host.ts'
import { parseInbound, type Inbound } from './inbound/parse-inbound.ts'
import type { DownstreamRequest, DownstreamResponse } from './message/downstream-message.ts'
import { inRequestScope } from './request-scope.ts'

const ERROR_STATUS = 500

/** Serves one request to its end. Never rejects. */
export function serveRequest(ctx: ProxyContext, req: DownstreamRequest, res: DownstreamResponse): Promise<void> {
  return inRequestScope(req, async (span) => {
    const outcome = await serve(ctx, { req, res, span })
    if (span === undefined) return
    span.set({ 'sandyard.outcome': outcome, 'http.response.status_code': res.headersSent ? res.statusCode : undefined })
    span.end(res.headersSent && res.statusCode < ERROR_STATUS ? undefined : new Error(`the request ended as ${outcome}`))
  })
}

interface Served {
  readonly req: DownstreamRequest
  readonly res: DownstreamResponse
  readonly span: Span | undefined
}

/** Returns how it ended. */
async function serve(ctx: ProxyContext, { req, res, span }: Served): Promise<string> {
  let inbound: Inbound | undefined
  const began = performance.now()
  try {
    const parsed = parseInbound(req, { headerHosts: ctx.headerHosts })
    inbound = parsed
    const onAnswer = (): void => ctx.metrics.timeAnswer(answerKind(parsed), performance.now() - began)
    await followRoute(async () => {
      const exchange = await findExchange(req, parsed, ctx.finders)
      span?.set({ 'sandyard.sandbox_id': exchange.sandboxId, 'sandyard.port': parsed.place.port })
      await forwardRequest(ctx, exchange, { res, onAnswer })
    })
    ctx.metrics.countRequest('forwarded')
    return 'forwarded'
  } catch (err) {
    if (err instanceof ClientGone) return 'client_gone'
    answerError(ctx, { req, res, err, isDaemon: inbound?.place.port === DAEMON_PORT })
    return toProxyError(err).problem.kind
  }
}
