/** Counts the outcomes of process starts, for `/metrics`. Reasons are error codes such as `ENOENT`. */
export class StartCounts {
  readonly #byShell = new Map<string, number>()
  readonly #failed = new Map<string, number>()
  readonly #withoutLimits = new Map<string, number>()
  #started = 0
  #stuck = 0

  started(): void {
    this.#started += 1
  }

  /** A command could not be executed directly and is started through a shell. */
  wentToShell(reason: string): void {
    increment(this.#byShell, reason)
  }

  failed(reason: string): void {
    increment(this.#failed, reason)
  }

  /** A slow start succeeded, but the process may have the daemon's limits in place of its own. */
  limitsFailed(reason: string): void {
    increment(this.#withoutLimits, reason)
  }

  /** +1 for a start that has failed at its deadline while the kernel still waits for a file system, -1 when that wait has ended. */
  stuck(change: 1 | -1): void {
    this.#stuck += change
  }

  get stuckNow(): number {
    return this.#stuck
  }

  toJson(): StartFigures {
    return {
      process_starts: this.#started,
      process_starts_by_shell: Object.fromEntries(this.#byShell),
      process_start_failures: Object.fromEntries(this.#failed),
      process_starts_stuck: this.#stuck,
      process_starts_without_limits: Object.fromEntries(this.#withoutLimits),
    }
  }
}

/** Keys of the answer of `/metrics` that upstream does not have. */
export interface StartFigures {
  readonly process_starts: number
  readonly process_starts_by_shell: Readonly<Record<string, number>>
  readonly process_start_failures: Readonly<Record<string, number>>
  readonly process_starts_stuck: number
  readonly process_starts_without_limits: Readonly<Record<string, number>>
}

function increment(counts: Map<string, number>, reason: string): void {
  counts.set(reason, (counts.get(reason) ?? 0) + 1)
}
