/** The cap that refused, of two, and its value. */
export interface Refusal {
  readonly of: 'all' | 'one'
  readonly limit: number
}

/** Counts uses by owner and in total, and refuses a use that would exceed a cap. */
export class Tally {
  readonly #maxAll: number
  readonly #maxOne: number
  readonly #byOwner = new Map<string, number>()
  #count = 0

  /** @param maxOne for one owner */
  constructor(maxAll: number, maxOne: number) {
    this.#maxAll = maxAll
    this.#maxOne = maxOne
  }

  get count(): number {
    return this.#count
  }

  /** Counts `amount` more uses, or returns the refusal. A use without an owner counts for the total only. */
  take(owner: string | undefined, amount = 1): Refusal | undefined {
    const own = owner === undefined ? 0 : (this.#byOwner.get(owner) ?? 0)
    if (this.#count + amount > this.#maxAll) return { of: 'all', limit: this.#maxAll }
    if (owner !== undefined && own + amount > this.#maxOne) return { of: 'one', limit: this.#maxOne }
    this.#count += amount
    if (owner !== undefined) this.#byOwner.set(owner, own + amount)
    return undefined
  }

  /** Releases the uses that one `take` has counted. */
  release(owner: string | undefined, amount = 1): void {
    this.#count -= amount
    if (owner === undefined) return
    const own = this.#byOwner.get(owner) ?? 0
    if (own > amount) this.#byOwner.set(owner, own - amount)
    else this.#byOwner.delete(owner)
  }
}
