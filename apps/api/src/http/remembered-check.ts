import { setTimeout as delay } from 'node:timers/promises'
import { runForAll } from '@sandyard/kit/tracing/scope'

export interface CheckLimits {
  /** How long the result of a check is cached, in milliseconds. */
  readonly rememberMs: number
  /** Deadline of a check, in milliseconds. A check that is late counts as failed. */
  readonly timeoutMs: number
}

/**
 * A health check with a cached result: concurrent callers share one run, and at most one runs at a time. A run that does not end counts as
 * failed after its deadline; no second run is started until it ends.
 */
export class RememberedCheck {
  readonly #check: (signal: AbortSignal) => Promise<unknown>
  readonly #limits: CheckLimits
  #running: Promise<boolean> | undefined
  #answer: Promise<boolean> | undefined
  #endedAt = -Infinity

  constructor(check: (signal: AbortSignal) => Promise<unknown>, limits: CheckLimits) {
    this.#check = check
    this.#limits = limits
  }

  passes(): Promise<boolean> {
    const isFresh = this.#endedAt === Infinity || performance.now() - this.#endedAt < this.#limits.rememberMs
    if (this.#answer !== undefined && isFresh) return this.#answer
    this.#endedAt = Infinity
    this.#answer = this.#ask().finally(() => (this.#endedAt = performance.now()))
    return this.#answer
  }

  async #ask(): Promise<boolean> {
    const { timeoutMs } = this.#limits
    this.#running ??= this.#run()
    const inTime = new AbortController()
    try {
      return await Promise.race([this.#running, delay(timeoutMs, false, { signal: inTime.signal })])
    } finally {
      inTime.abort()
    }
  }

  /** A check that ignores its signal continues; `#running` then prevents a second run. */
  async #run(): Promise<boolean> {
    try {
      await runForAll(() => this.#check(AbortSignal.timeout(this.#limits.timeoutMs)))
      return true
    } catch {
      return false
    } finally {
      this.#running = undefined
    }
  }
}
