import type { Counter } from 'prom-client'
import type { Database, Db } from '@sandyard/db/database'
import { keptPlan } from '@sandyard/db/kept-plan'
import { resultWithin } from '@sandyard/kit/async/within'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { runInScope } from '@sandyard/kit/tracing/scope'
import type { AuditEntry, Caller } from './audit-entry.ts'

export interface AuditLogParts {
  readonly database: Database
  readonly log: Logger
  /** Counts records that are in the log only. */
  readonly unstored: Counter
}

interface Waiting {
  readonly row: AuditRow
  readonly stored: () => void
}

interface AuditRow extends AuditEntry {
  readonly caller: Caller
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
    const { at: _at, requestId: _requestId, isStored, caller, ...fields } = entry
    this.#parts.log.info({ audit: true, caller, ...fields }, 'operation recorded')
    if (caller === undefined) return
    if (!isStored || this.#waiting.length >= MAX_WAITING) return this.#parts.unstored.inc()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ row: { ...entry, caller }, stored: resolve })
    // One statement for all that wait, and one connection, however many requests there are. It belongs to none of them.
    if (!this.#isStoring) void runInScope({}, () => this.#store())
    await resultWithin(WAIT_MS, promise)
  }

  /** Never rejects. */
  async #store(): Promise<void> {
    this.#isStoring = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH)
      try {
        await insert(
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

async function insert(db: Db, rows: readonly AuditRow[]): Promise<void> {
  const values = rows.map(({ at, teamId, caller, clientAddress, requestId, operation, targets, status }) => ({
    created_at: at,
    team_id: teamId ?? null,
    actor: caller.kind,
    credential_id: 'credentialId' in caller ? (caller.credentialId ?? null) : null,
    user_id: 'userId' in caller ? (caller.userId ?? null) : null,
    client_address: clientAddress,
    request_id: requestId,
    operation,
    targets: JSON.stringify(targets),
    status,
  }))
  const insertion = db.insertInto('audit').values(values)
  // Batches of other sizes are other texts.
  await (values.length === 1 ? insertion.modifyEnd(keptPlan) : insertion).execute()
}
