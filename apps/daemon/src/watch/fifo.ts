/** First in, first out. Unlike an array's, its `shift` takes as long for many items as for few. */
export class Fifo<T> {
  #in: T[] = []
  /** In reverse. */
  #out: T[] = []

  get length(): number {
    return this.#in.length + this.#out.length
  }

  push(item: T): void {
    this.#in.push(item)
  }

  shift(): T | undefined {
    if (this.#out.length === 0) {
      this.#out = this.#in.toReversed()
      this.#in = []
    }
    return this.#out.pop()
  }

  clear(): void {
    this.#in = []
    this.#out = []
  }
}
