import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { Semaphore } from '@sandyard/kit/async/semaphore'
import { ProxyError } from '../answers/proxy-error.ts'
import { Quota } from '@sandyard/kit/limits/quota'
import type { TokenProof } from '../inbound/token-proof.ts'
import type { SandboxTokens } from './sandbox-tokens.ts'

/** Comparisons between two pauses: less than 1 ms of work. */
const COMPARISONS_PER_TURN = 200
/** Leaves most of the time to traffic, however many requests wait. */
const PAUSE_MS = 1
const MAX_MATCHES = 10_000
/** Reads for one search, when sandboxes change during it. */
const MAX_ROUNDS = 3
/** One client may use half of the waiting searches, so that it cannot block the searches of others. */
const CLIENT_SHARE = 2

/** A token, or a test of one. */
type Wanted = string | ((token: string) => boolean)

interface Found {
  readonly sandboxId: string | undefined
  /** The last number that was compared. */
  readonly reached: number
}

/**
 * Finds the sandbox of a request that names none, by its token: the signature of a URL was made with it (clients.md 1.6), or an older client sends
 * it. The daemon checks what the request may do; this class only finds the sandbox.
 *
 * A token is looked up. The work for signatures is bounded: one search at a time, in short turns, and a queue with a cap
 * (docs/decisions/007-signed-urls.md).
 */
export class TokenOwners {
  readonly #tokens: SandboxTokens
  readonly #searches = new Semaphore(1)
  /** Sandboxes by the key of a proof. */
  readonly #matches = new LRUCache<string, string>({ max: MAX_MATCHES })
  readonly #waiting: Quota
  #comparisons = 0

  constructor(tokens: SandboxTokens, maxWaiting: number) {
    this.#tokens = tokens
    this.#waiting = new Quota({ all: maxWaiting, one: Math.ceil(maxWaiting / CLIENT_SHARE) })
  }

  /**
   * @param client the client that the search counts for; without one it counts for the total only
   * @throws ProxyError the proof's refusal when no sandbox matches, `limit`, and `unavailable` when the sandboxes cannot be read
   */
  async find({ key, token, refusal: noMatch }: TokenProof, client: string | undefined): Promise<string> {
    const known = this.#matches.get(key)
    if (known !== undefined && this.#tokens.has(known)) return known
    const wanted = token()
    if (wanted === undefined) throw new ProxyError(noMatch)
    const refusal = this.#waiting.take(client)
    if (refusal !== undefined) throw new ProxyError({ kind: 'limit', cap: 'signed_lookups', limit: refusal.limit })
    try {
      const sandboxId = await this.#search(wanted)
      if (sandboxId === undefined) throw new ProxyError(noMatch)
      this.#matches.set(key, sandboxId)
      return sandboxId
    } finally {
      this.#waiting.release(client)
    }
  }

  /** A sandbox that is not in the list may have started since, so a search without a match ends with a read. */
  async #search(wanted: Wanted): Promise<string | undefined> {
    let found = await this.#look(wanted, 0)
    for (let round = 0; found.sandboxId === undefined && round < MAX_ROUNDS; round += 1) {
      const { changes } = this.#tokens
      await this.#tokens.refresh().catch((err: unknown) => {
        throw new ProxyError({ kind: 'unavailable', sandboxId: undefined }, err)
      })
      const { reached } = found
      found = await this.#look(wanted, reached)
      // A sandbox that has changed meanwhile may have been missed.
      if (this.#tokens.changes === changes) break
    }
    return found.sandboxId
  }

  async #look(wanted: Wanted, after: number): Promise<Found> {
    if (typeof wanted === 'string') return { sandboxId: this.#tokens.ofToken(wanted), reached: after }
    return await this.#searches.run(() => this.#compare(wanted, after))
  }

  async #compare(matches: (token: string) => boolean, after: number): Promise<Found> {
    let reached = after
    for (const { sandboxId, number, token } of this.#tokens.tokensAfter(after)) {
      if (matches(token)) return { sandboxId, reached }
      reached = number
      this.#comparisons += 1
      if (this.#comparisons % COMPARISONS_PER_TURN === 0) await delay(PAUSE_MS)
    }
    return { sandboxId: undefined, reached }
  }
}
