import type { Counter } from 'prom-client'
import type { Database } from '@sandyard/db/database'
import { resultWithin } from '@sandyard/kit/async/within'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { runInScope } from '@sandyard/kit/tracing/scope'
import type { AuditEntry } from './audit-entry.ts'
import { insertAudit, type StoredEntry } from './audit-rows.ts'

export interface AuditLogParts {
  readonly database: Database
  readonly log: Logger
  /** Counts records that are in the log only. */
  readonly unstored: Counter
}

interface Waiting {
  readonly row: StoredEntry
  readonly stored: () => void
}

/** Records that wait to be stored; further ones are only in the log. */
const MAX_WAITING = 1000
const BATCH = 100
/** How long an answer waits for its record. The record is stored later then. */
const WAIT_MS = 2000

/**
 * Records who asked for changes: a line of the log with `audit: true`, and a row if the caller is known. Requests without valid credentials
 * have no row, so that strangers cannot fill the table.
 */
export class AuditLog {
  readonly #parts: AuditLogParts
  readonly #waiting: Waiting[] = []
  #isStoring = false

  constructor(parts: AuditLogParts) {
    this.#parts = parts
  }

  /** Resolves when the row is stored, or two seconds later. Never rejects: the change is made already. */
  async record(entry: AuditEntry): Promise<void> {
    this.note(entry)
    const { caller, isStored } = entry
    if (caller === undefined) return
    if (!isStored || this.#waiting.length >= MAX_WAITING) return this.#parts.unstored.inc()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ row: { ...entry, caller }, stored: resolve })
    // One statement for all that wait, and one connection, however many requests there are. It belongs to none of them.
    if (!this.#isStoring) void runInScope({}, () => this.#store())
    await resultWithin(WAIT_MS, promise)
  }

  /** Writes the line of the log only: the change has stored the row itself. */
  note({ at: _at, requestId: _requestId, isStored: _isStored, ...fields }: AuditEntry): void {
    this.#parts.log.info({ audit: true, ...fields }, 'operation recorded')
  }

  /** Never rejects. */
  async #store(): Promise<void> {
    this.#isStoring = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH)
      try {
        await insertAudit(
          this.#parts.database.db,
          batch.map(({ row }) => row),
        )
      } catch (err) {
        this.#parts.unstored.inc(batch.length)
        this.#parts.log.error({ err, records: batch.length }, 'audit records could not be stored: they are in the log only')
      }
      for (const { stored } of batch) stored()
    }
    this.#isStoring = false
  }
}
