/** More than containers that can hang at once. */
const MAX_LATE = 1000

/**
 * Runs calls one at a time, in order. A call that takes longer than `turnMs` loses its turn: it continues, and the next one starts
 * in parallel. Later calls with its key neither wait for a turn nor hold one, until one succeeds. So what hangs delays the others once,
 * by `turnMs`, however often it is tried again.
 */
export class Turns {
  readonly #turnMs: number
  readonly #late = new Set<string>()
  #last: Promise<void> = Promise.resolve()

  constructor(turnMs: number) {
    this.#turnMs = turnMs
  }

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (this.#late.has(key)) return this.#finish(key, work)
    const before = this.#last
    const turn = Promise.withResolvers<void>()
    this.#last = turn.promise
    await before
    const timer = setTimeout(() => {
      if (this.#late.size < MAX_LATE) this.#late.add(key)
      turn.resolve()
    }, this.#turnMs)
    try {
      return await this.#finish(key, work)
    } finally {
      clearTimeout(timer)
      turn.resolve()
    }
  }

  async #finish<T>(key: string, work: () => Promise<T>): Promise<T> {
    const result = await work()
    this.#late.delete(key)
    return result
  }
}
