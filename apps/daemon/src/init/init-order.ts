/**
 * Tells a late request from a new one (envd.md 5.5): a timestamp below the highest one so far is stale; a request without one never is.
 *
 * Another instance begins a new order: after a restore from an image of memory the clock of the caller may be behind the last timestamp.
 */
export class InitOrder {
  #latest = 0n
  #instance: string | undefined

  /** @param instance digest of its key; undefined without a platform */
  isStale(timestamp: bigint | undefined, instance: string | undefined): boolean {
    if (instance !== this.#instance) this.#latest = 0n
    this.#instance = instance
    if (timestamp === undefined) return false
    if (timestamp < this.#latest) return true
    this.#latest = timestamp
    return false
  }
}
