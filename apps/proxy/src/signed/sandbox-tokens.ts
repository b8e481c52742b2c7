import { setTimeout as delay } from 'node:timers/promises'
import type { Secret } from '@sandyard/kit/config/secret'
import { sandboxAccessToken } from '@sandyard/db/sandbox-token'

/** Where secured sandboxes and the seed of their tokens are kept. */
export interface SecuredSandboxes {
  /** The ids of all that have a row, whatever their state. */
  readSecured(): Promise<readonly string[]>
  /** @throws when the installation has none yet */
  readTokenSeed(): Promise<Secret>
}

interface Entry {
  /** Counts the entries, so that a search can go on where an earlier one ended. */
  readonly number: number
  /** Derived when it is first needed. */
  token: string | undefined
}

export interface NumberedToken {
  readonly sandboxId: string
  readonly number: number
  readonly token: string
}

/** Reads take at most this share of the time, so that requests that match nothing cannot load the database. */
const READ_SHARE = 0.1

/** The tokens of the secured sandboxes. Holds nothing, not even the seed, before the first signed URL comes. */
export class SandboxTokens {
  readonly #source: SecuredSandboxes
  readonly #entries = new Map<string, Entry>()
  #seed: Secret | undefined
  #count = 0
  #waiting: Promise<void> | undefined
  #reading: Promise<void> = Promise.resolve()
  #restsUntil = 0

  constructor(source: SecuredSandboxes) {
    this.#source = source
  }

  has(sandboxId: string): boolean {
    return this.#entries.has(sandboxId)
  }

  /** The tokens with a number above `after`, in its order. Sandboxes may come and go meanwhile. */
  *tokensAfter(after: number): Generator<NumberedToken, void, undefined> {
    const seed = this.#seed
    if (seed === undefined) return
    for (const [sandboxId, entry] of this.#entries) {
      if (entry.number <= after) continue
      entry.token ??= sandboxAccessToken(seed, sandboxId)
      yield { sandboxId, number: entry.number, token: entry.token }
    }
  }

  /** Reads which sandboxes there are. The read begins after this call; all who wait for it share it, and reads keep a distance. */
  refresh(): Promise<void> {
    this.#waiting ??= this.#readNext()
    return this.#waiting
  }

  /** A sandbox has changed: it is known again after a refresh, if it still is there. */
  forget(sandboxId: string): void {
    this.#entries.delete(sandboxId)
  }

  forgetAll(): void {
    this.#entries.clear()
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
      this.#seed ??= await this.#source.readTokenSeed()
      const ids = new Set(await this.#source.readSecured())
      for (const id of this.#entries.keys()) if (!ids.has(id)) this.#entries.delete(id)
      for (const id of ids) if (!this.#entries.has(id)) this.#entries.set(id, { number: ++this.#count, token: undefined })
    } finally {
      const now = performance.now()
      this.#restsUntil = now + (now - startedAt) * (1 / READ_SHARE - 1)
    }
  }
}
