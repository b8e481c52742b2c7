import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import { relayBytes } from '@sandyard/kit/net/relay-bytes'
import { awaitAnswer } from './await-answer.ts'
import { toUpstreamCall, type Exchange } from './exchange.ts'
import { ClientGone, explainSilence, whileTracked, type Forwarding } from './forwarding.ts'
import { hasBody, toPairs } from './headers.ts'
import { breakOff } from './open-tunnel.ts'
import { openUpstream, type UpstreamCall } from './open-upstream.ts'
import { ProxyError } from '../answers/proxy-error.ts'
import { relayAnswer, relayInformation } from './relay-answer.ts'

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Sends a request to its sandbox and the answer back, both as streams: whatever arrives on one side goes to the other at once, at
 * the pace of the slower one, and an end of one side without a clean end is one of the other too. Nothing limits the time.
 *
 * Resolves when the client is answered or gone.
 *
 * @throws ProxyError for the client if it has not got the head of an answer yet; after that, any error means that the answer cannot
 * be completed
 */
export async function forwardRequest(forwarding: Forwarding, exchange: Exchange, res: ServerResponse): Promise<void> {
  const call = toUpstreamCall(exchange)
  const { route } = exchange
  await whileTracked(forwarding.tracker, { route, socket: exchange.req.socket }, (signal) =>
    attempt(forwarding, { exchange, res, call, signal }),
  )
}

interface Attempt {
  readonly exchange: Exchange
  readonly res: ServerResponse
  readonly call: UpstreamCall
  readonly signal: AbortSignal
}

async function attempt(forwarding: Forwarding, { exchange, res, call, signal }: Attempt): Promise<void> {
  const upstream = await openUpstream(forwarding, call, signal)
  try {
    await transfer({ req: exchange.req, res, upstream, signal })
  } catch (err) {
    breakOff(upstream)
    if (err instanceof ProxyError || err instanceof ClientGone || res.headersSent) throw err
    // A kept connection may have ended under the request. One that changes nothing and has no body is sent again.
    const isRepeatable = upstream.reusedSocket && SAFE_METHODS.has(call.method) && !hasBody(exchange.req)
    if (!isRepeatable) throw await explainSilence(forwarding, exchange, err)
    await attempt(forwarding, { exchange, res, call: { ...call, reuse: false }, signal })
  }
}

interface Transfer {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly upstream: ClientRequest
  readonly signal: AbortSignal
}

/** Rejects when the exchange cannot be completed; the client may then have got a part of the answer. */
function transfer({ req, res, upstream, signal }: Transfer): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort)
    res.once('finish', () => {
      signal.removeEventListener('abort', abort)
      resolve()
    })
    upstream.once('continue', () => {
      if (req.headers.expect !== undefined && !res.headersSent) res.writeContinue()
    })
    upstream.on('information', (information) => relayInformation(information, req, res))
    const answered = (answer: IncomingMessage): void => {
      // An answer that comes before the end of the request ends the exchange all the same.
      answer.once('end', () => {
        if (!upstream.writableEnded) breakOff(upstream)
      })
      relayAnswer(answer, req, res).catch(reject)
    }
    awaitAnswer(upstream, { answered, failed: reject })
    sendBody(req, upstream)
  })
}

function sendBody(req: IncomingMessage, upstream: ClientRequest): void {
  if (!hasBody(req)) {
    upstream.end()
    return
  }
  relayBytes(req, upstream)
  // A service may answer without reading all: what is left runs out unread, or the client would never come to its next request.
  upstream.once('close', () => req.resume())
  req.once('end', () => {
    if (upstream.destroyed) return
    if (req.rawTrailers.length > 0) upstream.addTrailers(toPairs(req.rawTrailers))
    upstream.end()
  })
  // The first part of the body travels with the head if it is there already; the head never waits for it.
  setImmediate(() => {
    if (!upstream.destroyed) upstream.flushHeaders()
  })
}
