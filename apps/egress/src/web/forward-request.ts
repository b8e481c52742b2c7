import { request, STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import type { EgressContext } from '../context.ts'
import { admitRequest, type Admitted } from './admit-request.ts'
import { answerFailure } from './answer-failure.ts'
import { connectOrigin } from './connect-origin.ts'
import { endToEnd, framing, withRule } from './request-headers.ts'
import { fillRule } from './fill-rule.ts'
import type { WebConnection } from './web-connection.ts'

/** Forwards one request to its server and the answer back, at the pace of the slower side. Never rejects. */
export async function forwardRequest(ctx: EgressContext, web: WebConnection, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const admitted = admitRequest(ctx, web, req)
  if (admitted === undefined) {
    req.socket.destroy()
    return
  }
  try {
    using filled = await fillRule(ctx, web, admitted.rule)
    const answer = await exchange(ctx, web, { req, res, admitted: { ...admitted, rule: filled?.headers } })
    const { statusCode = 502 } = answer
    // Node reads reasons that it refuses to write.
    res.writeHead(statusCode, STATUS_CODES[statusCode] ?? '', answerHeaders(answer))
    res.flushHeaders()
    await pipeline(answer, res)
  } catch (err) {
    if (res.headersSent || req.socket.destroyed) req.socket.destroy()
    else await answerFailure(ctx, web, { req, res, err, name: admitted.name }).catch(() => req.socket.destroy())
  } finally {
    web.current = undefined
  }
}

interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly admitted: Admitted
}

/** Sends the request. Resolves with the head of the answer. @throws DialError, or the error of the connection */
function exchange(ctx: EgressContext, web: WebConnection, { req, res, admitted }: Exchange): Promise<IncomingMessage> {
  const { method = 'GET', url, headers, rawHeaders } = req
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const sent = withRule(endToEnd(rawHeaders, headers), admitted.rule)
  const upstream = request({
    agent: web.agent,
    ...originOf(ctx, web, admitted.name),
    method,
    path: url,
    headers: [...sent, ...framing(headers, method), 'Connection', 'keep-alive'],
    setHost: false,
  })
  // The client waits for the answer to the head before it sends the body.
  if (headers.expect !== undefined) upstream.flushHeaders()
  const abandon = (): void => void upstream.destroy()
  req.socket.once('close', abandon)
  upstream.once('close', () => req.socket.off('close', abandon))
  upstream.setTimeout(ctx.limits.idleTimeoutMs, () => upstream.destroy(new Error('the server was silent for too long')))
  upstream.on('continue', () => res.writeContinue())
  upstream.once('response', resolve)
  // Node offers an upgrade only to those who listen for it; here none was asked for.
  upstream.on('upgrade', (_, socket) => {
    socket.destroy()
    reject(new Error('the server upgraded a connection that did not ask for it'))
  })
  upstream.on('error', reject)
  // An answer may come before the end of the body; then the rest of the body is not sent.
  pipeline(req, upstream).catch(reject)
  return promise
}

interface Origin {
  readonly host: string
  readonly port: number
  readonly connect: () => Promise<Socket>
}

/** The server, for the agent: it keeps connections by host and port. */
export function originOf(ctx: EgressContext, web: WebConnection, name: string | undefined): Origin {
  const { address, port } = web.destination
  return { host: name ?? address, port, connect: () => connectOrigin(ctx, web, name) }
}

function answerHeaders(answer: IncomingMessage): string[] {
  const length = answer.headers['content-length']
  return [...endToEnd(answer.rawHeaders, answer.headers), ...(length === undefined ? [] : ['Content-Length', length])]
}
