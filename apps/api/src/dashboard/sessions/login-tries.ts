import { LRUCache } from 'lru-cache'
import { entryLimit } from '@sandyard/kit/caching/entry-limit'
import { AppError } from '@sandyard/kit/errors/app-error'
import { LOGINS_PER_MINUTE } from '@sandyard/dashboard-contract/limits'

const MINUTE_MS = 60_000
const MAX_ADDRESSES = 20_000

interface Tries {
  /** Times of the wrong ones. */
  wrong: number[]
  inFlight: number
}

/** Wrong logins of a client address in the last minute. Each server counts for itself. */
export class LoginTries {
  readonly #byAddress = new LRUCache<string, Tries>(entryLimit(MAX_ADDRESSES))

  /**
   * Runs a try. Those in flight count as wrong, so many at once gain nothing.
   *
   * @throws AppError `resource_exhausted` after too many wrong ones; the error of `attempt`
   */
  async run<T>(address: string, attempt: () => Promise<T>, now: () => number = Date.now): Promise<T> {
    const tries = this.#byAddress.get(address) ?? { wrong: [], inFlight: 0 }
    this.#byAddress.set(address, tries)
    tries.wrong = tries.wrong.filter((at) => at > now() - MINUTE_MS)
    if (tries.wrong.length + tries.inFlight >= LOGINS_PER_MINUTE) {
      const waitMs = (tries.wrong[0] ?? now()) + MINUTE_MS - now()
      const headers = { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) }
      throw new AppError('resource_exhausted', 'Too many wrong logins: wait a minute', { headers })
    }
    tries.inFlight++
    try {
      return await attempt()
    } catch (err) {
      if (err instanceof AppError && err.kind === 'unauthenticated') tries.wrong.push(now())
      throw err
    } finally {
      tries.inFlight--
    }
  }
}
