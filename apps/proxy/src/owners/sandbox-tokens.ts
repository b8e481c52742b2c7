import { setTimeout as delay } from 'node:timers/promises'
import type { Secret } from '@sandyard/kit/config/secret'
import { sandboxAccessToken } from '@sandyard/db/sandbox-token'
import type { SecuredSandboxes } from '../routes/route.ts'
import type { TokenSeed } from '../routes/token-seed.ts'

interface Entry {
  /** A sequence number, so that a search can continue where an earlier one ended. */
  readonly number: number
  /** Derived on first use. */
  token: string | undefined
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
/** Sandboxes over this cap cannot be found by a token; 100,000 take about 30 MB. */
const MAX_SANDBOXES = 100_000

/** The tokens of the secured sandboxes. It is empty until the first request that names no sandbox. */
export class SandboxTokens {
  readonly #source: SecuredSandboxes
  readonly #tokenSeed: TokenSeed
  readonly #entries = new Map<string, Entry>()
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
    const seed = this.#seed
    if (seed === undefined) return
    for (const [sandboxId, entry] of this.#entries) {
      if (entry.number <= after) continue
      entry.token ??= sandboxAccessToken(seed, sandboxId)
      yield { sandboxId, number: entry.number, token: entry.token }
    }
  }

  /** Reads the list of sandboxes. The read begins after this call; concurrent calls share it, and reads have a minimum distance. */
  refresh(): Promise<void> {
    this.#waiting ??= this.#readNext()
    return this.#waiting
  }

  /** A sandbox has changed: it is dropped, and a refresh adds it again if it still exists. */
  forget(sandboxId: string): void {
    if (this.#entries.delete(sandboxId)) this.#changes += 1
  }

  forgetAll(): void {
    this.#entries.clear()
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
    const startedAt = performance.now()
    try {
      this.#seed ??= await this.#tokenSeed.read()
      const ids = await this.#readIds()
      for (const id of this.#entries.keys()) if (!ids.has(id)) this.#entries.delete(id)
      for (const id of ids) if (!this.#entries.has(id)) this.#entries.set(id, { number: ++this.#count, token: undefined })
    } finally {
      const now = performance.now()
      this.#restsUntil = now + (now - startedAt) * (1 / READ_SHARE - 1)
    }
  }

  async #readIds(): Promise<Set<string>> {
    const ids = new Set<string>()
    let page: readonly string[] = []
    do {
      page = await this.#source.readSecured(page.at(-1) ?? '', PAGE_SIZE)
      for (const id of page) ids.add(id)
    } while (page.length === PAGE_SIZE && ids.size < MAX_SANDBOXES)
    return ids
  }
}
