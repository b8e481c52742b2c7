import { resetSocket } from '@sandyard/kit/net/reset-socket'
import { ProxyError, toProxyError } from './answers/proxy-error.ts'
import { preflightHeaders, renderProblem } from './answers/render-problem.ts'
import type { ProxyContext } from './context.ts'
import type { DownstreamRequest, DownstreamResponse } from './message/downstream-message.ts'
import { requestIdHeader } from './request-scope.ts'

type Reporting = Pick<ProxyContext, 'metrics' | 'log'>

export interface Failure {
  readonly req: DownstreamRequest
  readonly res: DownstreamResponse
  readonly err: unknown
  /** The request is for the daemon of a sandbox. */
  readonly isDaemon?: boolean
  /** The connection serves no more requests. */
  readonly isLast?: boolean
}

/** Answers a failed request, or cuts off its answer if that has begun. */
export function answerError(reporting: Reporting, { req, res, err, isDaemon = false, isLast = false }: Failure): void {
  if (res.headersSent) {
    cut(reporting, { req, res, err })
    return
  }
  const error = toProxyError(err)
  logProblem(reporting, error)
  const preflight = isDaemon ? preflightHeaders(req) : undefined
  if (preflight !== undefined) {
    res.writeHead(204, [...preflight, ...requestIdHeader(req)]).end()
    return
  }
  const { status, headers, body } = renderProblem(error.problem, req)
  const all = [...headers, ...requestIdHeader(req), 'Content-Length', String(Buffer.byteLength(body))]
  // A client that waits for `100 Continue` does not send its body now, so the next request would be read as the body.
  if (isLast || req.headers.expect !== undefined) all.push('Connection', 'close')
  res.writeHead(status, all).end(body)
}

/** Logs failures for the operator. A request for an absent sandbox is logged at level debug only. */
export function logProblem({ metrics, log }: Reporting, { problem, cause }: ProxyError): void {
  metrics.countRequest(problem.kind)
  if (problem.kind === 'limit') metrics.countRefused(problem.cap)
  if (problem.kind === 'internal') log.traffic.error({ err: cause }, 'request failed')
  else if (problem.kind === 'unavailable') log.traffic.warn({ err: cause, sandboxId: problem.sandboxId }, 'sandbox cannot be reached')
  else log.traffic.debug({ err: cause, problem }, 'request answered by the proxy')
}

/**
 * Ends an answer that cannot be completed, so that the client detects that it is incomplete. The end of an answer without chunks is the
 * end of the connection, so only a reset shows the failure. Other connections are closed without a reset,
 * so that the sent bytes still arrive, unless the sandbox has ended.
 */
function cut({ metrics, log }: Reporting, { req, res, err }: Pick<Failure, 'req' | 'res' | 'err'>): void {
  metrics.countRequest('cut')
  log.traffic.debug({ err }, 'answer cut off')
  if (res.socket === null) res.destroy()
  else if (err instanceof ProxyError || req.httpVersion === '1.0') resetSocket(res.socket)
  else res.socket.destroy()
}
