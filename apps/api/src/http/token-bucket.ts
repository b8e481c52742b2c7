export interface BucketLimit {
  /** Requests that a period refills. */
  readonly rate: number
  readonly periodSeconds: number
  /** Requests that may come at once. */
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

const MAX_BUCKETS = 10_000

/** Token buckets by key, in the memory of this process. Full ones are forgotten. */
export class TokenBuckets {
  /** When each bucket will be full, in milliseconds of `now`. */
  readonly #fullAt = new Map<string, number>()

  take(key: string, { rate, periodSeconds, burst }: BucketLimit, now: number = Date.now()): BucketState {
    const msEach = (periodSeconds * 1000) / rate
    const fullAt = Math.max(this.#fullAt.get(key) ?? now, now)
    const missing = (fullAt - now) / msEach
    const isAllowed = missing + 1 <= burst
    if (isAllowed) this.#put(key, fullAt + msEach, now)
    const after = isAllowed ? missing + 1 : missing
    return {
      isAllowed,
      remaining: Math.max(0, Math.floor(burst - after)),
      resetSeconds: Math.ceil((after * msEach) / 1000),
      retryAfterSeconds: Math.max(1, Math.ceil(((missing + 1 - burst) * msEach) / 1000)),
    }
  }

  #put(key: string, fullAt: number, now: number): void {
    if (this.#fullAt.size >= MAX_BUCKETS) for (const [other, at] of this.#fullAt) if (at <= now) this.#fullAt.delete(other)
    this.#fullAt.set(key, fullAt)
  }
}
