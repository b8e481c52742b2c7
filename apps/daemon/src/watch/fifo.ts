/** A queue whose `shift` is O(1), unlike that of an array. */
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
