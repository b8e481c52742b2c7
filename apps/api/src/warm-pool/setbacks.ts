/** The first pause after a failure; each further failure doubles it. */
const FIRST_MS = 5000
const LONGEST_MS = 300_000
const MAX_KEYS = 1000

/** Builds whose sandboxes could not be started for the pool: they pause, so that a broken start command does not keep the engine busy. */
export class Setbacks {
  readonly #failures = new Map<string, { readonly times: number; readonly until: number }>()
  readonly #now: () => number

  /** @param now in ms; default: since the start of the process */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  add(buildId: string): void {
    const times = (this.#failures.get(buildId)?.times ?? 0) + 1
    if (this.#failures.size >= MAX_KEYS) this.#failures.clear()
    this.#failures.set(buildId, { times, until: this.#now() + Math.min(LONGEST_MS, FIRST_MS * 2 ** (times - 1)) })
  }

  forget(buildId: string): void {
    this.#failures.delete(buildId)
  }

  isPaused(buildId: string): boolean {
    return (this.#failures.get(buildId)?.until ?? 0) > this.#now()
  }
}
