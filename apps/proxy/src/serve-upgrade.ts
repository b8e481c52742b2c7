import type { IncomingMessage } from 'node:http'
import type { ProxyContext } from './context.ts'
import { errorHeaders } from './answers/error-headers.ts'
import { forwardUpgrade } from './forward/forward-upgrade.ts'
import { hasBody } from './forward/headers.ts'
import { findRoute, locate } from './address/locate.ts'
import { renderProblem } from './answers/proxy-error.ts'
import { endWithAnswer } from './answers/raw-answer.ts'
import { logProblem, toProxyError } from './serve-request.ts'

/**
 * Whether a request that offers another protocol is forwarded as such. Clients offer `h2c` by habit with ordinary requests and may
 * be refused; a request with a body goes as an ordinary one, because its body ends before another protocol begins.
 */
export function isForwardedUpgrade(req: IncomingMessage): boolean {
  return req.headers.upgrade?.toLowerCase() !== 'h2c' && !hasBody(req)
}

/** Serves one upgrade until both of its connections are closed. Never rejects. */
export async function serveUpgrade(ctx: ProxyContext, req: IncomingMessage, head: Buffer): Promise<void> {
  try {
    const exchange = await findRoute(req, locate(req, ctx.headerHosts), (sandboxId) => ctx.catalog.find(sandboxId))
    await forwardUpgrade(ctx, exchange, head)
    ctx.metrics.countRequest('forwarded')
  } catch (err) {
    const error = toProxyError(err)
    logProblem(ctx, error)
    const { status, contentType, body } = renderProblem(error.problem, req.headers)
    endWithAnswer(req.socket, { status, headers: errorHeaders(req, contentType) }, body)
  }
}
