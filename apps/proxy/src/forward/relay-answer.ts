import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import { relayBytes } from '@sandyard/kit/net/relay-bytes'
import type { Inbound } from '../inbound/parse-inbound.ts'
import { endToEndHeaders, isChunked, toPairs, trailerNames } from '../message/head.ts'

/**
 * Sends a sandbox's answer to the client: the head at once, the body as it arrives, trailers at the end.
 *
 * @throws when the answer cannot be forwarded unchanged, or breaks off; the client has then received a part of it, without an end
 */
export async function relayAnswer(answer: IncomingMessage, { method, isOldHttp }: Inbound, res: ServerResponse): Promise<void> {
  const coding = answer.headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') throw new Error('the answer has an unknown transfer coding')
  const status = answer.statusCode ?? 0
  const isWithoutBody = method === 'HEAD' || status === 204 || status === 304
  const keepsTrailers = isChunked(answer) && !isWithoutBody && !isOldHttp
  res.sendDate = false
  res.writeHead(status, answer.statusMessage ?? STATUS_CODES[status] ?? '', responseHeaders(answer, keepsTrailers))
  // The first part of the body is sent with the head if it has arrived; the head never waits for it.
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

/**
 * The headers for the client, as name, value, name, value. `keepsTrailers` means that the answer will be chunked: other answers
 * cannot have trailers, so their announcement is dropped.
 */
export function responseHeaders(answer: IncomingMessage, keepsTrailers: boolean): string[] {
  const headers = endToEndHeaders(answer, () => false)
  return keepsTrailers && isChunked(answer) ? [...headers, ...trailerNames(answer)] : headers
}
