import type { IncomingMessage, ServerResponse } from 'node:http'
import { resetSocket } from '@sandyard/kit/net/reset-socket'
import type { ProxyContext } from './context.ts'
import { errorHeaders, preflightHeaders } from './answers/error-headers.ts'
import { forwardRequest } from './forward/forward-request.ts'
import { DAEMON_PORT } from './address/host.ts'
import { findRoute, locate, type Location } from './address/locate.ts'
import { ProxyError, renderProblem } from './answers/proxy-error.ts'
import { isUnaddressedFile, locateSigned } from './signed/locate-signed.ts'

/** Serves one request to its end. Never rejects. */
export async function serveRequest(ctx: ProxyContext, req: IncomingMessage, res: ServerResponse): Promise<void> {
  let location: Location | undefined
  let isFile = false
  try {
    isFile = isUnaddressedFile(req, ctx.headerHosts)
    location = isFile ? await locateSigned(req, ctx.signedUrls) : locate(req, ctx.headerHosts)
    const exchange = await findRoute(req, location, (sandboxId) => ctx.catalog.find(sandboxId))
    await forwardRequest(ctx, exchange, res)
    ctx.metrics.countRequest('forwarded')
  } catch (err) {
    if (res.headersSent) cut(ctx, { req, res, err })
    else answerError(ctx, { req, res, error: toProxyError(err), port: isFile ? DAEMON_PORT : location?.address.port })
  }
}

export function toProxyError(err: unknown): ProxyError {
  return err instanceof ProxyError ? err : new ProxyError({ kind: 'internal' }, err)
}

/** Logs what the operator should know; who asks for a sandbox that is gone is no news. */
export function logProblem(ctx: ProxyContext, { problem, cause }: ProxyError): void {
  ctx.metrics.countRequest(problem.kind)
  if (problem.kind === 'internal') ctx.log.traffic.error({ err: cause }, 'request failed')
  else if (problem.kind === 'unavailable') ctx.log.traffic.warn({ err: cause, sandboxId: problem.sandboxId }, 'sandbox cannot be reached')
  else ctx.log.traffic.debug({ err: cause, problem }, 'request answered by the proxy')
}

interface Failure {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly error: ProxyError
  readonly port: number | undefined
}

function answerError(ctx: ProxyContext, { req, res, error, port }: Failure): void {
  logProblem(ctx, error)
  const preflight = preflightHeaders(req, port)
  if (preflight !== undefined) {
    res.writeHead(204, preflight).end()
    return
  }
  const { status, contentType, body } = renderProblem(error.problem, req.headers)
  const headers = [...errorHeaders(req, contentType), 'Content-Length', String(Buffer.byteLength(body))]
  // A client that waits for leave to send its body does not send it now, so the next bytes would be taken for it.
  if (req.headers.expect !== undefined) headers.push('Connection', 'close')
  res.writeHead(status, headers).end(body)
}

/**
 * Ends an answer that cannot be completed, so that the client sees that it is incomplete. An answer without chunks has no end but
 * that of the connection, so only a reset tells; elsewhere what was sent may still arrive, unless the sandbox is gone.
 */
function cut(ctx: ProxyContext, { req, res, err }: { req: IncomingMessage; res: ServerResponse; err: unknown }): void {
  ctx.metrics.countRequest('cut')
  ctx.log.traffic.debug({ err }, 'answer cut off')
  if (res.socket === null) res.destroy()
  else if (err instanceof ProxyError || req.httpVersion === '1.0') resetSocket(res.socket)
  else res.socket.destroy()
}
