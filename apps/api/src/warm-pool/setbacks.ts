/** The first pause after a failure; each further failure doubles it. */
const FIRST_MS = 5000
const LONGEST_MS = 300_000
const MAX_KEYS = 1000

/**
 * Builds whose sandboxes could not be started for the pool, or did not idle in it: they pause, so that a broken start command does not keep the
 * engine busy. Failures during a pause belong to the one that began it: those of starts that were in flight together count once. A failure is the first one again when none came for five minutes after a pause; a start that succeeds says nothing of what follows.
 */
export class Setbacks {
  readonly #failures = new Map<string, { readonly times: number; readonly until: number }>()
  readonly #now: () => number

  /** @param now in ms; default: since the start of the process */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  add(buildId: string): void {
    if (this.isPaused(buildId)) return
    const former = this.#failures.get(buildId)
    const times = former === undefined || this.#now() - former.until > LONGEST_MS ? 1 : former.times + 1
    if (this.#failures.size >= MAX_KEYS) this.#failures.clear()
    this.#failures.set(buildId, { times, until: this.#now() + Math.min(LONGEST_MS, FIRST_MS * 2 ** (times - 1)) })
  }

  isPaused(buildId: string): boolean {
    return (this.#failures.get(buildId)?.until ?? 0) > this.#now()
  }
}
