/** Counts what waits for each source. */
export class PendingLookups {
  readonly #bySource = new Map<string, number>()

  /** Undefined when `most` of the source wait already. */
  take(source: string, most: number): Disposable | undefined {
    const count = this.#bySource.get(source) ?? 0
    if (count >= most) return undefined
    this.#bySource.set(source, count + 1)
    return {
      [Symbol.dispose]: () => {
        const left = (this.#bySource.get(source) ?? 1) - 1
        if (left === 0) this.#bySource.delete(source)
        else this.#bySource.set(source, left)
      },
    }
  }
}
