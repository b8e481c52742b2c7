import type { Database, Db } from '@sandyard/db/database'
import type { Secret } from '@sandyard/kit/config/secret'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRef } from '@sandyard/runtime/types'
import { MAX_LOG_ENTRIES } from '../daemon/daemon-logs.ts'
import { readReports } from '../daemon/read-reports.ts'
import { appendDaemonLogs } from './append-daemon-logs.ts'
import { selectLogTargets, toLogTarget, type LogTarget } from './log-target.ts'

export interface LastLogsParts {
  readonly database: Database
  readonly tokenSeed: Secret
  readonly log: Logger
}

const TIMEOUT_MS = 500

/**
 * Stores the last log entries of a sandbox's daemon, which end with the daemon: for the moment before a pause or a kill. Best effort within
 * half a second; never throws.
 */
export async function storeLastLogs(
  { database, tokenSeed, log }: LastLogsParts,
  ref: SandboxRef,
  timeoutMs: number = TIMEOUT_MS,
): Promise<void> {
  try {
    const target = await findTarget(database.db, ref, tokenSeed)
    if (target === undefined) return
    const { place, daemon } = target
    const { logs } = await readReports(daemon, { place, maxEntries: MAX_LOG_ENTRIES, withMetrics: false, timeoutMs })
    if (logs !== undefined) await appendDaemonLogs(database.db, target, logs)
  } catch (err) {
    log.warn({ err, ...ref }, 'the last log entries of a sandbox were not stored')
  }
}

async function findTarget(db: Db, { sandboxId, incarnation }: SandboxRef, tokenSeed: Secret): Promise<LogTarget | undefined> {
  const row = await selectLogTargets(db)
    .where('sandbox.sandbox_id', '=', sandboxId)
    .where('incarnation', '=', incarnation)
    .executeTakeFirst()
  return row && toLogTarget(row, tokenSeed)
}
