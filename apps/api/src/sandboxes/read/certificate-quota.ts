import { AppError } from '@sandyard/kit/errors/app-error'
import { LRUCache } from 'lru-cache'
import { entryLimit } from '@sandyard/kit/caching/entry-limit'

const HOUR_MS = 3_600_000
/** New names of one sandbox in an hour: it has a name for each of its 65,535 ports. */
const PER_SANDBOX = 8
const MAX_KNOWN = 100_000

interface Approval {
  readonly sandboxId: string
  readonly at: number
}

/**
 * Limits how many names of sandboxes get a certificate. A client that knows the id of a sandbox can request the name of every port of it. The counts are in
 * the memory of this process. A name that was approved is not counted again.
 */
export class CertificateQuota {
  readonly #perHour: number
  readonly #known = new LRUCache<string, true>(entryLimit(MAX_KNOWN))
  /** Of the last hour, in order; at most `perHour`. */
  #recent: Approval[] = []

  constructor(perHour: number) {
    this.#perHour = perHour
  }

  /** @param now - in ms. @throws AppError `resource_exhausted` */
  take(name: string, sandboxId: string, now = performance.now()): void {
    if (this.#known.get(name) === true) return
    this.#recent = this.#recent.filter(({ at }) => now - at < HOUR_MS)
    const own = this.#recent.filter((approval) => approval.sandboxId === sandboxId)
    if (own.length >= PER_SANDBOX) throw refusal(`The sandbox has got certificates for ${PER_SANDBOX} names within an hour`)
    if (this.#recent.length >= this.#perHour)
      throw refusal('Too many names have got certificates within an hour: SANDYARD_TLS_NAMES_PER_HOUR')
    this.#known.set(name, true)
    this.#recent.push({ sandboxId, at: now })
  }
}

function refusal(message: string): AppError {
  return new AppError('resource_exhausted', message, { headers: { 'retry-after': '60' } })
}
