import { LRUCache } from 'lru-cache'
import { entryLimit } from '@sandyard/kit/caching/entry-limit'
import type { Database } from '@sandyard/db/database'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { touchApiKey } from './auth-queries.ts'

const EVERY_MS = 60_000
const MAX_KEYS = 10_000
/** Writes that wait for the database. A use that is left out is written at the next one. */
const MAX_PENDING = 256

/** Updates `last_used_at` of API keys in the background, at most once a minute for each key. */
export class KeyUsage implements AsyncDisposable {
  readonly #database: Database
  readonly #log: Logger
  readonly #written = new LRUCache<string, true>({ ...entryLimit(MAX_KEYS), ttl: EVERY_MS })
  readonly #pending = new Set<Promise<void>>()

  constructor(database: Database, log: Logger) {
    this.#database = database
    this.#log = log
  }

  used(apiKeyId: string): void {
    if (this.#written.has(apiKeyId) || this.#pending.size >= MAX_PENDING) return
    this.#written.set(apiKeyId, true)
    const write = touchApiKey(this.#database.db, apiKeyId)
      .catch((err: unknown) => this.#log.warn({ err, apiKeyId }, 'last use of a key was not written'))
      .finally(() => this.#pending.delete(write))
    this.#pending.add(write)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#pending)
  }
}
