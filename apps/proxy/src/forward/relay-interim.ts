import type { ClientRequest, InformationEvent, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ProxyError } from '../answers/proxy-error.ts'
import type { ProxyLimits } from '../config.ts'
import { endToEndHeaders, formatHead } from '../message/head.ts'
import type { Exchange } from './find-exchange.ts'

export type InterimLimits = Pick<ProxyLimits, 'maxInterimAnswers' | 'maxInterimBytes'>

const CONTINUE = 100
/** Processing and Early Hints, which any HTTP/1.1 client may receive. Others have no meaning for a client that did not ask for them. */
const PASSED: ReadonlySet<number> = new Set([102, 103])

/**
 * Forwards the interim answers (1xx) of a service to its client: `100` once, to a client that waits for it, and those of `PASSED`, at
 * the pace of the client. All count for the caps.
 */
export function relayInterim(
  upstream: ClientRequest,
  { inbound, sandboxId }: Exchange,
  { res, limits }: { res: ServerResponse; limits: InterimLimits },
): void {
  let mayContinue = inbound.expectsContinue
  const pass = paced(upstream, res)
  countInterim(upstream, { sandboxId, limits }, (information) => {
    const { statusCode: status, statusMessage: reason } = information
    if (res.headersSent || inbound.isOldHttp) return
    if (status === CONTINUE && mayContinue) {
      mayContinue = false
      res.writeContinue()
    } else if (PASSED.has(status)) {
      // An interim answer has no body, so a length would be wrong.
      pass(formatHead({ status, reason, headers: endToEndHeaders(information, (name) => name === 'content-length') }))
    }
  })
}

/** Aborts a request when its service sends more interim answers than the caps allow, because nothing else would end them. */
export function countInterim(
  upstream: ClientRequest,
  { sandboxId, limits: { maxInterimAnswers, maxInterimBytes } }: { readonly sandboxId: string; readonly limits: InterimLimits },
  onInterim: (information: InformationEvent) => void,
): void {
  let answers = 0
  let bytes = 0
  upstream.on('information', (information: InformationEvent) => {
    answers += 1
    bytes += information.rawHeaders.reduce((sum, text) => sum + text.length, information.statusMessage.length)
    if (answers <= maxInterimAnswers && bytes <= maxInterimBytes) return onInterim(information)
    const limit = answers > maxInterimAnswers ? maxInterimAnswers : maxInterimBytes
    upstream.destroy(new ProxyError({ kind: 'limit', cap: 'interim_answers', limit, sandboxId }))
  })
}

/** Writes to the client, and stops reading from the service while the client is slow. */
function paced(upstream: ClientRequest, res: ServerResponse): (text: string) => void {
  let isHeld = false
  const holdOn = (service: Socket, client: Socket): void => {
    const hold = (): void => void service.pause()
    const release = (): void => {
      isHeld = false
      service.off('resume', hold)
      client.off('drain', release)
      client.off('close', release)
      service.resume()
    }
    isHeld = true
    hold()
    // Node's parser resumes the connection after each interim answer.
    service.on('resume', hold)
    client.once('drain', release)
    client.once('close', release)
  }
  return (text) => {
    const client = res.socket
    if (client === null || client.write(text, 'latin1') || isHeld || upstream.socket === null) return
    holdOn(upstream.socket, client)
  }
}
