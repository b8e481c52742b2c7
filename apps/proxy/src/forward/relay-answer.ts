import { STATUS_CODES, type IncomingMessage, type InformationEvent, type ServerResponse } from 'node:http'
import { relayBytes } from '@sandyard/kit/net/relay-bytes'
import { isChunked, responseHeaders, toPairs } from './headers.ts'

/**
 * Passes a sandbox's answer to the client: the head at once, the body as it arrives, trailers at the end.
 *
 * @throws when the answer cannot be passed on as it is, or ends before its end; the client has then got what there was, without an end
 */
export async function relayAnswer(answer: IncomingMessage, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const coding = answer.headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') throw new Error('the answer has an unknown transfer coding')
  const status = answer.statusCode ?? 0
  const isWithoutBody = req.method === 'HEAD' || status === 204 || status === 304
  const keepsTrailers = isChunked(answer) && !isWithoutBody && req.httpVersion !== '1.0'
  res.sendDate = false
  res.writeHead(status, answer.statusMessage ?? STATUS_CODES[status] ?? '', responseHeaders(answer, keepsTrailers))
  // The first part of the body travels with the head if it is there already; the head never waits for it.
  setImmediate(() => {
    if (!res.destroyed) res.flushHeaders()
  })
  relayBytes(answer, res)
  await new Promise((resolve, reject) => {
    answer.once('end', resolve)
    answer.once('error', reject)
  })
  if (keepsTrailers && answer.rawTrailers.length > 0) res.addTrailers(toPairs(answer.rawTrailers))
  res.end()
}

/** Passes an interim answer (1xx) on. `100 Continue` goes another way, because only clients that ask for it understand it. */
export function relayInformation(information: InformationEvent, req: IncomingMessage, res: ServerResponse): void {
  // An answer that waits behind another of the same connection has no socket yet.
  if (information.statusCode === 100 || req.httpVersion === '1.0' || res.headersSent || res.socket === null) return
  const lines = toPairs(information.rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
  const reason = information.statusMessage
  res.socket.write(`HTTP/1.1 ${information.statusCode} ${reason}\r\n${lines.join('')}\r\n`, 'latin1')
}
