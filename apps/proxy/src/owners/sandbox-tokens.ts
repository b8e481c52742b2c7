import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Secret } from '@sandyard/kit/config/secret'
import { sandboxAccessToken } from '@sandyard/db/sandbox-token'
import type { SecuredSandboxes } from '../routes/route.ts'
import type { TokenSeed } from '../routes/token-seed.ts'

interface Entry {
  /** A sequence number, so that a search can continue where an earlier one ended. */
  readonly number: number
  readonly token: string
  readonly digest: string
}

export interface NumberedToken {
  readonly sandboxId: string
  readonly number: number
  readonly token: string
}

/** Reads take at most this share of the time, so that requests without a match cannot overload the database. */
const READ_SHARE = 0.1
/** Sandboxes in one query. */
const PAGE_SIZE = 5000
/** Sandboxes over this cap cannot be found by a token; 100,000 take about 50 MB. */
const MAX_SANDBOXES = 100_000
/** Tokens that are derived between two pauses: about a millisecond of work. */
const TOKENS_PER_TURN = 200
const PAUSE_MS = 1

/** The tokens of the secured sandboxes. It is empty until the first request that names no sandbox. */
export class SandboxTokens {
  readonly #source: SecuredSandboxes
  readonly #tokenSeed: TokenSeed
  readonly #entries = new Map<string, Entry>()
  /** Sandbox ids by the digest of the token: the time of a lookup tells nothing about a token. */
  readonly #byDigest = new Map<string, string>()
  #seed: Secret | undefined
  #count = 0
  #changes = 0
  #waiting: Promise<void> | undefined
  #reading: Promise<void> = Promise.resolve()
  #restsUntil = 0

  constructor(source: SecuredSandboxes, tokenSeed: TokenSeed) {
    this.#source = source
    this.#tokenSeed = tokenSeed
  }

  /** How often sandboxes were dropped. */
  get changes(): number {
    return this.#changes
  }

  has(sandboxId: string): boolean {
    return this.#entries.has(sandboxId)
  }

  /** The tokens with a number above `after`, in order. Sandboxes may be added and removed meanwhile. */
  *tokensAfter(after: number): Generator<NumberedToken, void, undefined> {
    for (const [sandboxId, { number, token }] of this.#entries) if (number > after) yield { sandboxId, number, token }
  }

  /** The sandbox with this token. */
  ofToken(token: string): string | undefined {
    return this.#byDigest.get(digestOf(token))
  }

  /** Reads the list of sandboxes. The read begins after this call; concurrent calls share it, and reads have a minimum distance. */
  refresh(): Promise<void> {
    this.#waiting ??= this.#readNext()
    return this.#waiting
  }

  /** A sandbox has changed: it is dropped, and a refresh adds it again if it still exists. */
  forget(sandboxId: string): void {
    if (this.#remove(sandboxId)) this.#changes += 1
  }

  forgetAll(): void {
    this.#entries.clear()
    this.#byDigest.clear()
    this.#changes += 1
  }

  async #readNext(): Promise<void> {
    await this.#reading.catch(() => undefined)
    await delay(Math.max(0, this.#restsUntil - performance.now()))
    this.#waiting = undefined
    this.#reading = this.#read()
    await this.#reading
  }

  async #read(): Promise<void> {
    this.#seed ??= await this.#tokenSeed.read()
    const ids = await this.#readIds()
    for (const id of this.#entries.keys()) if (!ids.has(id)) this.#remove(id)
    await this.#addAll(ids, this.#seed)
  }

  #remove(sandboxId: string): boolean {
    const entry = this.#entries.get(sandboxId)
    if (entry === undefined) return false
    this.#byDigest.delete(entry.digest)
    return this.#entries.delete(sandboxId)
  }

  async #addAll(sandboxIds: Iterable<string>, seed: Secret): Promise<void> {
    let added = 0
    for (const sandboxId of sandboxIds) {
      if (this.#entries.has(sandboxId)) continue
      const token = sandboxAccessToken(seed, sandboxId)
      const digest = digestOf(token)
      this.#entries.set(sandboxId, { number: ++this.#count, token, digest })
      this.#byDigest.set(digest, sandboxId)
      added += 1
      if (added % TOKENS_PER_TURN === 0) await delay(PAUSE_MS)
    }
  }

  async #readIds(): Promise<Set<string>> {
    const startedAt = performance.now()
    const ids = new Set<string>()
    let page: readonly string[] = []
    try {
      do {
        page = await this.#source.readSecured(page.at(-1) ?? '', PAGE_SIZE)
        for (const id of page) ids.add(id)
      } while (page.length === PAGE_SIZE && ids.size < MAX_SANDBOXES)
      return ids
    } finally {
      const now = performance.now()
      this.#restsUntil = now + (now - startedAt) * (1 / READ_SHARE - 1)
    }
  }
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}
