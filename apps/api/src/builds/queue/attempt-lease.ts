import type { Database } from '@sandyard/db/database'
import { runLoop, type Loop } from '@sandyard/kit/lifecycle/run-loop'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { BuildFailure, FAILURES } from '../build-failure.ts'
import { AttemptLostError, LEASE_MS, renewLease, type Attempt } from './build-attempt.ts'

const RENEW_EVERY_MS = 5000

export interface LeaseParts {
  readonly database: Database
  readonly log: Logger
  /** For the whole build. */
  readonly timeoutMs: number
}

/**
 * Keeps a server's turn at a build, and ends the work when it has to: cancelled and overdue builds with a `BuildFailure`, a turn that
 * is over or could not be renewed in time with an `AttemptLostError`.
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

  /** Aborts with why the work has to end. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  /** Another server may have the build by now, whatever else the work was ended for. */
  get isLost(): boolean {
    return this.#isLost
  }

  /** Something was asked of this build: looks at once. */
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
      // Renewed many times before: a later look sets the timer of a deadline that is further away.
      if (remainingMs < LEASE_MS) this.#deadline = setTimeout(() => this.end(new BuildFailure(FAILURES.timedOut)), Math.max(0, remainingMs))
      if (cancelReason !== undefined) this.end(new BuildFailure(cancelReason))
    } catch (err) {
      if (!(err instanceof AttemptLostError)) throw err
      this.end(err)
    }
  }

  /** Whatever keeps this server from renewing, by then another one may have taken the build. */
  #expireAfter(ms: number): void {
    clearTimeout(this.#expiry)
    this.#expiry = setTimeout(() => this.end(new AttemptLostError(this.#attempt)), Math.max(0, ms))
  }
}
