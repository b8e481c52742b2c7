import type { Database } from '@sandyard/db/database'
import { runLoop, type Loop } from '@sandyard/kit/lifecycle/run-loop'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { BuildFailure, FAILURES } from '../build-failure.ts'
import { AttemptLostError, LEASE_MS, renewLease, type Attempt } from './build-attempt.ts'

const RENEW_EVERY_MS = LEASE_MS / 5

export interface LeaseParts {
  readonly database: Database
  readonly log: Logger
  /** Longest duration of the whole build. */
  readonly timeoutMs: number
}

/**
 * Renews the lease of an attempt, and aborts the work when it must end: with a `BuildFailure` for cancelled and overdue builds, with an
 * `AttemptLostError` when the lease has ended or could not be renewed in time.
 */
export class AttemptLease {
  readonly #parts: LeaseParts
  readonly #attempt: Attempt
  readonly #ending = new AbortController()
  readonly #renewing: Loop
  #isLost = false
  #expiry: NodeJS.Timeout | undefined
  #deadline: NodeJS.Timeout | undefined

  constructor(parts: LeaseParts, attempt: Attempt) {
    this.#parts = parts
    this.#attempt = attempt
    this.#expireAfter(LEASE_MS)
    this.#renewing = runLoop({ name: 'build lease', everyMs: RENEW_EVERY_MS, log: parts.log }, () => this.#renew())
  }

  /** Aborts when the work must end. The reason says why. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  /** Another server may own the build now, even if the work was ended for another reason. */
  get isLost(): boolean {
    return this.#isLost
  }

  /** The build has new orders: renews now and reads them. */
  check(): void {
    this.#renewing.wake()
  }

  end(reason: Error): void {
    if (reason instanceof AttemptLostError) this.#isLost = true
    this.#ending.abort(reason)
  }

  /** Stops renewing. */
  async stop(): Promise<void> {
    clearTimeout(this.#expiry)
    clearTimeout(this.#deadline)
    await this.#renewing.stop()
    clearTimeout(this.#expiry)
    clearTimeout(this.#deadline)
  }

  async #renew(): Promise<void> {
    const { database, timeoutMs } = this.#parts
    const askedAt = performance.now()
    try {
      const { cancelReason, remainingMs } = await database.transaction((tx) => renewLease(tx, this.#attempt, timeoutMs))
      this.#expireAfter(LEASE_MS - (performance.now() - askedAt))
      clearTimeout(this.#deadline)
      // The lease is renewed many times before a later deadline: a later renewal sets the timer.
      if (remainingMs < LEASE_MS) this.#deadline = setTimeout(() => this.end(new BuildFailure(FAILURES.timedOut)), Math.max(0, remainingMs))
      if (cancelReason !== undefined) this.end(new BuildFailure(cancelReason))
    } catch (err) {
      if (!(err instanceof AttemptLostError)) throw err
      this.end(err)
    }
  }

  /** When the lease has expired, another server may have claimed the build. */
  #expireAfter(ms: number): void {
    clearTimeout(this.#expiry)
    this.#expiry = setTimeout(() => this.end(new AttemptLostError(this.#attempt)), Math.max(0, ms))
  }
}
