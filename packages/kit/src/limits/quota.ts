export interface QuotaCaps {
  readonly all: number
  /** For one owner. */
  readonly one: number
  /** An owner with no more than this is never refused for what others use. */
  readonly guaranteed?: number
}

/** The cap that refused, of two, and its value. */
export interface Refusal {
  readonly of: 'all' | 'one'
  readonly limit: number
}

/** Counts uses by owner and in total, and refuses a use that would exceed a cap. */
export class Quota {
  readonly #caps: QuotaCaps
  readonly #byOwner = new Map<string, number>()
  #count = 0

  constructor(caps: QuotaCaps) {
    this.#caps = caps
  }

  get count(): number {
    return this.#count
  }

  /** Counts `amount` more uses, or returns the refusal. A use without an owner counts for the total only. */
  take(owner: string | undefined, amount = 1): Refusal | undefined {
    const { all, one, guaranteed = 0 } = this.#caps
    const own = (owner === undefined ? 0 : (this.#byOwner.get(owner) ?? 0)) + amount
    const isGuaranteed = owner !== undefined && own <= guaranteed
    if (this.#count + amount > all && !isGuaranteed) return { of: 'all', limit: all }
    if (owner !== undefined && own > one) return { of: 'one', limit: one }
    this.#count += amount
    if (owner !== undefined) this.#byOwner.set(owner, own)
    return undefined
  }

  /** Releases the uses that one or more calls of `take` have counted. */
  release(owner: string | undefined, amount = 1): void {
    this.#count -= amount
    if (owner === undefined) return
    const own = this.#byOwner.get(owner) ?? 0
    if (own > amount) this.#byOwner.set(owner, own - amount)
    else this.#byOwner.delete(owner)
  }
}
