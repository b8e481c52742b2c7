import type { ClientRequest, InformationEvent } from 'node:http'
import { ProxyError } from '../answers/proxy-error.ts'
import type { ProxyLimits } from '../config.ts'
import type { DownstreamResponse } from '../message/downstream-message.ts'
import { endToEndHeaders, formatHead } from '../message/head.ts'
import type { AnswerHead } from './answer-parser.ts'
import type { Exchange } from './find-exchange.ts'

export type InterimLimits = Pick<ProxyLimits, 'maxInterimAnswers' | 'maxInterimBytes'>

const CONTINUE = 100
/** Processing and Early Hints, which any HTTP/1.1 client may receive. Others have no meaning for a client that did not ask for them. */
const PASSED: ReadonlySet<number> = new Set([102, 103])

/** Counts the interim answers (1xx) to one request, because nothing else would end them. */
class InterimCount {
  readonly #sandboxId: string
  readonly #limits: InterimLimits
  #answers = 0
  #bytes = 0

  constructor(sandboxId: string, limits: InterimLimits) {
    this.#sandboxId = sandboxId
    this.#limits = limits
  }

  /** @throws ProxyError `limit` when there are more than the caps allow */
  add(reason: string, rawHeaders: readonly string[]): void {
    const { maxInterimAnswers, maxInterimBytes } = this.#limits
    this.#answers += 1
    this.#bytes += rawHeaders.reduce((sum, text) => sum + text.length, reason.length)
    if (this.#answers <= maxInterimAnswers && this.#bytes <= maxInterimBytes) return
    const limit = this.#answers > maxInterimAnswers ? maxInterimAnswers : maxInterimBytes
    throw new ProxyError({ kind: 'limit', cap: 'interim_answers', limit, sandboxId: this.#sandboxId })
  }
}

/**
 * Forwards the interim answers of a service to its client: `100` once, to a client that waits for it, and those of `PASSED`. All count for
 * the caps.
 */
export class InterimRelay {
  readonly #isOldHttp: boolean
  readonly #res: DownstreamResponse
  readonly #count: InterimCount
  #mayContinue: boolean

  constructor({ inbound, sandboxId }: Exchange, res: DownstreamResponse, limits: InterimLimits) {
    this.#isOldHttp = inbound.isOldHttp
    this.#mayContinue = inbound.expectsContinue
    this.#res = res
    this.#count = new InterimCount(sandboxId, limits)
  }

  /**
   * Returns false when the client has to read first.
   *
   * @throws ProxyError `limit`
   */
  pass(interim: AnswerHead): boolean {
    const { status, reason, rawHeaders } = interim
    this.#count.add(reason, rawHeaders)
    if (this.#isOldHttp) return true
    if (status === CONTINUE && this.#mayContinue) {
      this.#mayContinue = false
      this.#res.writeContinue()
    } else if (PASSED.has(status)) {
      // An interim answer has no body, so a length would be wrong.
      const head = formatHead({ status, reason, headers: endToEndHeaders(interim, (name) => name === 'content-length') })
      return this.#res.socket?.write(head, 'latin1') ?? true
    }
    return true
  }
}

/** Aborts an upgrade when its service sends more interim answers than the caps allow. */
export function capInterim(upstream: ClientRequest, sandboxId: string, limits: InterimLimits): void {
  const count = new InterimCount(sandboxId, limits)
  upstream.on('information', ({ statusMessage, rawHeaders }: InformationEvent) => {
    try {
      count.add(statusMessage, rawHeaders)
    } catch (err) {
      upstream.destroy(err as Error)
    }
  })
}
