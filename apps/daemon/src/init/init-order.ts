import type { InitRequest } from './init-request.ts'

/** `late`: it is answered and changes nothing. `claimed`: another create has the sandbox. */
export type InitTurn = 'now' | 'late' | 'claimed'

/**
 * Tells a late request from a new one (envd.md 5.5): a timestamp below the highest one so far is late; a request without one never is.
 *
 * Another instance begins a new order: after a restore from an image of memory the clock of the caller may be behind the last timestamp. So does
 * the first claim: another server may have started the sandbox ahead. What was sent before the claim is late from then on, and other claims are
 * refused.
 */
export class InitOrder {
  #latest = 0n
  #instance: string | undefined
  #claim: string | undefined

  /** @param instance digest of its key; undefined without a platform */
  turnOf({ timestamp, claim }: Pick<InitRequest, 'timestamp' | 'claim'>, instance: string | undefined): InitTurn {
    if (instance !== this.#instance) {
      this.#latest = 0n
      this.#claim = undefined
    }
    this.#instance = instance
    if (instance !== undefined && claim !== undefined && claim !== this.#claim) {
      if (this.#claim !== undefined) return 'claimed'
      this.#claim = claim
      this.#latest = 0n
    }
    if (timestamp === undefined) return 'now'
    if (timestamp < this.#latest || (claim === undefined && this.#claim !== undefined)) return 'late'
    this.#latest = timestamp
    return 'now'
  }
}
