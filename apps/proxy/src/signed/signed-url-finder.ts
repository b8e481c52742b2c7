import { setTimeout as delay } from 'node:timers/promises'
import { Semaphore } from '@sandyard/kit/async/semaphore'
import { ProxyError } from '../answers/proxy-error.ts'
import type { SandboxTokens } from './sandbox-tokens.ts'
import { signatureTest, type SignedUrl } from './signed-url.ts'

/** Comparisons between two pauses: under a millisecond of work. */
const COMPARISONS_PER_TURN = 200
/** Leaves the larger part of the time to traffic, however many URLs are asked for. */
const PAUSE_MS = 1
const MAX_WAITING = 128
const MAX_MATCHES = 10_000

/**
 * Finds the sandbox of a signed URL that names none: the one whose token makes the signature (clients.md 1.6). Whether the signature
 * also permits the request is the daemon's to say; this only says where to ask.
 *
 * The work is bounded: one search at a time, in short turns, and a queue that refuses what is too much (docs/decisions/007-signed-urls.md).
 */
export class SignedUrlFinder {
  readonly #tokens: SandboxTokens
  readonly #searches = new Semaphore(1)
  /** Sandboxes by signature, the oldest match first. */
  readonly #matches = new Map<string, string>()
  #waiting = 0
  #comparisons = 0

  constructor(tokens: SandboxTokens) {
    this.#tokens = tokens
  }

  /** @throws ProxyError `invalid_signature` when no sandbox matches, `too_many_signed`, and `unavailable` when the sandboxes cannot be read */
  async find(url: SignedUrl): Promise<string> {
    const known = this.#matches.get(url.signature)
    if (known !== undefined && this.#tokens.has(known)) return known
    const matches = signatureTest(url)
    if (matches === undefined) throw new ProxyError({ kind: 'invalid_signature' })
    if (this.#waiting >= MAX_WAITING) throw new ProxyError({ kind: 'too_many_signed' })
    this.#waiting += 1
    try {
      const sandboxId = await this.#search(matches)
      if (sandboxId === undefined) throw new ProxyError({ kind: 'invalid_signature' })
      this.#remember(url.signature, sandboxId)
      return sandboxId
    } finally {
      this.#waiting -= 1
    }
  }

  /** A sandbox that is not known yet may be one whose start has not been heard of, so a search without a match ends with a read. */
  async #search(matches: (token: string) => boolean): Promise<string | undefined> {
    const first = await this.#searches.run(() => this.#compare(matches, 0))
    if (first.sandboxId !== undefined) return first.sandboxId
    await this.#tokens.refresh().catch((err: unknown) => {
      throw new ProxyError({ kind: 'unavailable', sandboxId: undefined }, err)
    })
    const second = await this.#searches.run(() => this.#compare(matches, first.reached))
    return second.sandboxId
  }

  async #compare(
    matches: (token: string) => boolean,
    after: number,
  ): Promise<{ readonly sandboxId: string | undefined; readonly reached: number }> {
    let reached = after
    for (const { sandboxId, number, token } of this.#tokens.tokensAfter(after)) {
      if (matches(token)) return { sandboxId, reached }
      reached = number
      this.#comparisons += 1
      if (this.#comparisons % COMPARISONS_PER_TURN === 0) await delay(PAUSE_MS)
    }
    return { sandboxId: undefined, reached }
  }

  #remember(signature: string, sandboxId: string): void {
    const oldest = this.#matches.size >= MAX_MATCHES ? this.#matches.keys().next().value : undefined
    if (oldest !== undefined) this.#matches.delete(oldest)
    this.#matches.set(signature, sandboxId)
  }
}
