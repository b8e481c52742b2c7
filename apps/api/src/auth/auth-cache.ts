import type { Principal } from './principal.ts'

const TTL_MS = 5 * 60_000
const MAX_ENTRIES = 10_000

interface Entry {
  readonly principal: Principal
  readonly until: number
}

/**
 * Who a credential is, for five minutes (control-plane.md 1.7). Emptied whenever a right is taken away anywhere; a look-up
 * that was under way at that moment is not remembered.
 */
export class AuthCache {
  readonly #entries = new Map<string, Entry>()
  #generation = 0

  clear(): void {
    this.#generation += 1
    this.#entries.clear()
  }

  /** Unknown credentials are not remembered: a key may be issued at any time. */
  async resolve(key: string, look: () => Promise<Principal | undefined>): Promise<Principal | undefined> {
    const found = this.#entries.get(key)
    if (found !== undefined && found.until > Date.now()) return found.principal
    const generation = this.#generation
    const principal = await look()
    if (principal !== undefined && generation === this.#generation) this.#remember(key, principal)
    return principal
  }

  #remember(key: string, principal: Principal): void {
    this.#entries.delete(key)
    this.#entries.set(key, { principal, until: Date.now() + TTL_MS })
    const oldest = this.#entries.keys().next()
    if (this.#entries.size > MAX_ENTRIES && !oldest.done) this.#entries.delete(oldest.value)
  }
}
