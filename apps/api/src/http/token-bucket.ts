import { LRUCache } from 'lru-cache'
import { entryLimit } from '@sandyard/kit/caching/entry-limit'

export interface BucketLimit {
  /** Tokens that are added in a period. */
  readonly rate: number
  readonly periodSeconds: number
  /** Capacity of the bucket: requests that may arrive at once. */
  readonly burst: number
}

export interface BucketState {
  readonly isAllowed: boolean
  readonly remaining: number
  /** Whole seconds until the bucket is full again. */
  readonly resetSeconds: number
  /** Whole seconds until a request is allowed, at least 1. */
  readonly retryAfterSeconds: number
}

const MAX_BUCKETS = 20_000

/**
 * Token buckets by key, in the memory of this process. Above the cap the least recently used bucket is removed. The wire has a rate and a
 * burst (control-plane.md 1.11), which the fixed windows of rate-limiter-flexible cannot express.
 */
export class TokenBuckets {
  /** The time at which each bucket is full, in milliseconds of `now`. */
  readonly #fullAt = new LRUCache<string, number>(entryLimit(MAX_BUCKETS))

  /** Takes a token if there is one. */
  take(key: string, limit: BucketLimit, now: number = Date.now()): BucketState {
    return this.#look(key, limit, { now, tokens: 1 })
  }

  /** The current state, without taking a token. */
  peek(key: string, limit: BucketLimit, now: number = Date.now()): BucketState {
    return this.#look(key, limit, { now, tokens: 0 })
  }

  #look(key: string, { rate, periodSeconds, burst }: BucketLimit, { now, tokens }: { now: number; tokens: 0 | 1 }): BucketState {
    const msEach = (periodSeconds * 1000) / rate
    const fullAt = Math.max(this.#fullAt.get(key) ?? now, now)
    const missing = (fullAt - now) / msEach
    const isAllowed = missing + 1 <= burst
    if (isAllowed && tokens > 0) this.#fullAt.set(key, fullAt + msEach)
    const after = isAllowed ? missing + tokens : missing
    return {
      isAllowed,
      remaining: Math.max(0, Math.floor(burst - after)),
      resetSeconds: Math.ceil((after * msEach) / 1000),
      retryAfterSeconds: Math.max(1, Math.ceil(((missing + 1 - burst) * msEach) / 1000)),
    }
  }
}
