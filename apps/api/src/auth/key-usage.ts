import type { Database } from '@sandyard/db/database'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { touchApiKey } from './auth-queries.ts'

const EVERY_MS = 60_000

/** Keeps `last_used_at` of API keys about current, behind the request: at most one write a minute for each key. */
export class KeyUsage implements AsyncDisposable {
  readonly #database: Database
  readonly #log: Logger
  readonly #written = new Map<string, number>()
  readonly #pending = new Set<Promise<void>>()

  constructor(database: Database, log: Logger) {
    this.#database = database
    this.#log = log
  }

  used(apiKeyId: string): void {
    const now = Date.now()
    if ((this.#written.get(apiKeyId) ?? 0) > now - EVERY_MS) return
    this.#forgetBefore(now - EVERY_MS)
    this.#written.set(apiKeyId, now)
    const write = touchApiKey(this.#database.db, apiKeyId)
      .catch((err: unknown) => this.#log.warn({ err, apiKeyId }, 'last use of a key was not written'))
      .finally(() => this.#pending.delete(write))
    this.#pending.add(write)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#pending)
  }

  #forgetBefore(time: number): void {
    for (const [id, at] of this.#written) if (at < time) this.#written.delete(id)
  }
}
