import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import { relayBytes } from '@sandyard/kit/net/relay-bytes'
import { toPairs } from '../message/head.ts'
import { awaitAnswer } from './await-answer.ts'
import type { Exchange } from './find-exchange.ts'
import { breakOff } from './open-tunnel.ts'
import { relayAnswer } from './relay-answer.ts'
import { relayInterim, type InterimLimits } from './relay-interim.ts'

export interface Transfer {
  readonly exchange: Exchange
  readonly res: ServerResponse
  /** Called when the head of the answer has arrived. */
  readonly onAnswer: () => void
  readonly upstream: ClientRequest
  readonly limits: InterimLimits
}

/** Rejects when the exchange cannot be completed; the client may have received a part of the answer. */
export function transfer({ exchange, res, onAnswer, upstream, limits }: Transfer, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort)
    res.once('finish', () => {
      signal.removeEventListener('abort', abort)
      resolve()
    })
    if (exchange.inbound.hasBody) sendBody(exchange.req, upstream)
    else upstream.end()
    relayInterim(upstream, exchange, { res, limits })
    const answered = (answer: IncomingMessage): void => {
      onAnswer()
      // An answer that ends before the request has ended also ends the exchange.
      answer.once('end', () => {
        if (!upstream.writableEnded) breakOff(upstream)
      })
      relayAnswer(answer, exchange.inbound, res).catch(reject)
    }
    awaitAnswer(upstream, { answered, failed: reject })
  })
}

function sendBody(req: IncomingMessage, upstream: ClientRequest): void {
  relayBytes(req, upstream)
  // A service may answer without reading the whole request: the rest is read and dropped, so that the client can send its next request.
  upstream.once('close', () => req.resume())
  req.once('end', () => {
    if (upstream.destroyed) return
    if (req.rawTrailers.length > 0) upstream.addTrailers(toPairs(req.rawTrailers))
    upstream.end()
  })
  // The first part of the body is sent with the head if it has arrived; the head never waits for it.
  setImmediate(() => {
    if (!upstream.destroyed) upstream.flushHeaders()
  })
}
