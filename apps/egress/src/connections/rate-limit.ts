import { LRUCache } from 'lru-cache'

interface Bucket {
  tokens: number
  at: number
}

const MAX_SOURCES = 10_000

/** A token bucket for each source: `perSecond` on average, twice as many at once. */
export class RateLimit {
  readonly #perSecond: number
  readonly #buckets = new LRUCache<string, Bucket>({ max: MAX_SOURCES })

  constructor(perSecond: number) {
    this.#perSecond = perSecond
  }

  /** Takes one turn; false when there is none. @param now - in ms */
  take(source: string, now = performance.now()): boolean {
    const most = this.#perSecond * 2
    const bucket = this.#buckets.get(source) ?? { tokens: most, at: now }
    const tokens = Math.min(most, bucket.tokens + ((now - bucket.at) / 1000) * this.#perSecond)
    const isFree = tokens >= 1
    this.#buckets.set(source, { tokens: isFree ? tokens - 1 : tokens, at: now })
    return isFree
  }
}
