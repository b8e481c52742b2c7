/** Counts what each source has in progress, with a cap for one source and one for all. */
export class SourceCounts {
  readonly #mostInAll: number
  readonly #bySource = new Map<string, number>()
  #all = 0

  constructor(mostInAll: number) {
    this.#mostInAll = mostInAll
  }

  /** Undefined when the source has `most` in progress, or all sources together have theirs. */
  take(source: string, most: number): Disposable | undefined {
    const count = this.#bySource.get(source) ?? 0
    if (count >= most || this.#all >= this.#mostInAll) return undefined
    this.#bySource.set(source, count + 1)
    this.#all += 1
    return {
      [Symbol.dispose]: () => {
        this.#all -= 1
        const left = (this.#bySource.get(source) ?? 1) - 1
        if (left === 0) this.#bySource.delete(source)
        else this.#bySource.set(source, left)
      },
    }
  }
}
