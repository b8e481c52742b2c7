import { LRUCache } from 'lru-cache'
import { entryLimit } from '@sandyard/kit/caching/entry-limit'
import pLimit from 'p-limit'
import { AppError } from '@sandyard/kit/errors/app-error'
import { runForAll } from '@sandyard/kit/tracing/scope'
import type { Principal } from './principal.ts'

const TTL_MS = 5 * 60_000
/** How long an unknown key is cached. A new key cannot be in the cache, because nobody knows a key before it is issued. */
const UNKNOWN_TTL_MS = 10_000
const MAX_ENTRIES = 10_000
/** A withdrawn right ends within this time also when the connection that would tell is dead and nobody has noticed. */
const HEARD_WITHIN_MS = 1000
/** Connections to the database that look-ups of one kind may use. */
const LOOK_UPS_AT_ONCE = 4
const LOOK_UPS_WAITING = 256

export interface LookUpOptions {
  /** Called for each caller whose credential is not known, also when it shares a look-up. What it throws refuses only this caller. */
  readonly beforeLookUp?: (() => void) | undefined
  /** The look-up may wait for another server. It then does not delay the others. */
  readonly isRemote?: boolean
}

/**
 * Caches the principal of a credential for five minutes (control-plane.md 1.7). It is cleared whenever a right is withdrawn on any server;
 * look-ups in flight at that moment are not cached. While it is not certain that all changes were heard, cached credentials are looked up. Requests with the same credential share one look-up.
 */
export class AuthCache {
  readonly #known = new LRUCache<string, Principal>({ ...entryLimit(MAX_ENTRIES), ttl: TTL_MS })
  readonly #unknown = new LRUCache<string, true>({ ...entryLimit(MAX_ENTRIES), ttl: UNKNOWN_TTL_MS })
  #inFlight = new Map<string, Promise<Principal | undefined>>()
  readonly #limits = { local: pLimit(LOOK_UPS_AT_ONCE), remote: pLimit(LOOK_UPS_AT_ONCE) }

  #isSuspended = false
  /** When changes of rights were certainly heard; undefined: nobody listens for them. */
  #heardAt: number | undefined

  /** Forgets everything and caches nothing until `resume`: while no changes of rights are heard, every use of a credential is looked up. */
  suspend(): void {
    this.#isSuspended = true
    this.clear()
  }

  /** Changes of rights are heard again; those before may have been missed. */
  resume(): void {
    this.#isSuspended = false
    this.heard(performance.now())
    this.clear()
  }

  /** All changes of rights until then, of `performance.now()`, have been heard. From the first call on it must be repeated within a second. */
  heard(at: number): void {
    this.#heardAt = at
  }

  clear(): void {
    this.#known.clear()
    this.#unknown.clear()
    // Later requests start look-ups of their own.
    this.#inFlight = new Map()
  }

  /** @throws AppError `resource_exhausted` when too many look-ups wait; what `look` and `beforeLookUp` throw */
  async resolve(
    key: string,
    look: () => Promise<Principal | undefined>,
    { beforeLookUp, isRemote = false }: LookUpOptions = {},
  ): Promise<Principal | undefined> {
    const known = this.#known.get(key)
    if (this.#unknown.has(key) || (known !== undefined && this.hearsChanges())) return known
    if (known === undefined) beforeLookUp?.()
    const inFlight = this.#inFlight
    const shared = inFlight.get(key)
    if (shared !== undefined) return shared
    const limit = this.#limits[isRemote ? 'remote' : 'local']
    if (limit.pendingCount >= LOOK_UPS_WAITING) {
      throw new AppError('resource_exhausted', 'The server checks too many credentials at once: try again', {
        headers: { 'retry-after': '1' },
      })
    }
    const started = limit(() => runForAll(look)).finally(() => inFlight.delete(key))
    inFlight.set(key, started)
    const principal = await started
    if (this.#isSuspended || inFlight !== this.#inFlight) return principal
    if (principal === undefined) {
      this.#known.delete(key)
      this.#unknown.set(key, true)
    } else this.#known.set(key, principal)
    return principal
  }

  /** Whether all changes of rights until a second ago were heard, or nobody listens for them. */
  hearsChanges(): boolean {
    return this.#heardAt === undefined || performance.now() - this.#heardAt < HEARD_WITHIN_MS
  }
}
