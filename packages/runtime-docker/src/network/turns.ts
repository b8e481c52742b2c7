/**
 * Runs calls one at a time, in order. A call that takes longer than `turnMs` loses its turn: it continues, and the next one starts
 * in parallel. So a call that hangs delays the others once, by `turnMs`.
 */
export class Turns {
  readonly #turnMs: number
  #last: Promise<void> = Promise.resolve()

  constructor(turnMs: number) {
    this.#turnMs = turnMs
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#last
    const turn = Promise.withResolvers<void>()
    this.#last = turn.promise
    await before
    const timer = setTimeout(turn.resolve, this.#turnMs)
    try {
      return await work()
    } finally {
      clearTimeout(timer)
      turn.resolve()
    }
  }
}
