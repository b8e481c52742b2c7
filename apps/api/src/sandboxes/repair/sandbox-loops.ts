import type { Db } from '@sandyard/db/database'
import { deleteOlder } from '@sandyard/db/delete-older'
import { runLoop } from '@sandyard/kit/lifecycle/run-loop'
import type { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import { forgetEndedCredentials } from '../../credentials/forget-ended-credentials.ts'
import { forgetEvents } from '../../events/forget-events.ts'
import { TeamLogs } from '../../sandbox-logs/team-logs.ts'
import type { RetentionConfig } from '../../settings/retention.ts'
import { foldSpawns } from '../../templates/spawn-counts.ts'
import { ExcessRows } from './excess-rows.ts'
import type { ExitParts } from './exited-sandboxes.ts'
import { startReaper } from './expiry-reaper.ts'
import { KEY_RETENTION_MS } from '../../idempotency/sandbox-keys.ts'
import { freePausedMemory, PAUSED_MEMORY_EVERY_MS } from '../lifecycle/paused-memory.ts'
import { reconcile, RECONCILE_EVERY_MS } from './reconciler.ts'
import { watchRuntime } from './runtime-watch.ts'

const FOLD_EVERY_MS = 5000
const FORGET_EVERY_MS = 60_000

export interface LoopParts extends ExitParts {
  readonly pausedMemoryBytes: number
  readonly retention: RetentionConfig
}

export interface SandboxLoops {
  /** End times were set or changed. */
  readonly onEndTime: () => void
}

/** Starts the loops that expire and repair sandboxes and delete old rows; `shutdown` stops them. */
export function startSandboxLoops(parts: LoopParts, shutdown: Shutdown): SandboxLoops {
  const { database, log, repairs, retention } = parts
  shutdown.add('repairs', () => repairs.stop())
  const watching = new AbortController()
  const watched = watchRuntime(parts, watching.signal)
  shutdown.add('runtime watch', async () => {
    watching.abort()
    await watched
  })

  const reconciling = runLoop({ name: 'reconciler', everyMs: RECONCILE_EVERY_MS, log }, (signal) => reconcile(parts, signal))
  shutdown.add('reconciler', () => reconciling.stop())

  const reaping = startReaper(parts)
  shutdown.add('expiry reaper', () => reaping.stop())

  const freeing = runLoop({ name: 'paused memory', everyMs: PAUSED_MEMORY_EVERY_MS, log }, () => freePausedMemory(parts))
  shutdown.add('paused memory', () => freeing.stop())

  const folding = runLoop({ name: 'spawn counts', everyMs: FOLD_EVERY_MS, log }, () => foldSpawns(database.db))
  shutdown.add('spawn counts', () => folding.stop())

  const forgetting = runLoop({ name: 'retention', everyMs: FORGET_EVERY_MS, log }, () => forgetOld(database.db, retention))
  shutdown.add('retention', () => forgetting.stop())

  const excess = new ExcessRows(database.db)
  const teamLogs = new TeamLogs(database.db, retention.teamLogBytes)
  const capping = runLoop({ name: 'excess rows', everyMs: FORGET_EVERY_MS, log }, async (signal) => {
    await excess.pass(signal)
    await teamLogs.pass(signal)
  })
  shutdown.add('excess rows', () => capping.stop())
  return { onEndTime: () => reaping.wake() }
}

/** Deletes rows that are older than their retention. */
export async function forgetOld(db: Db, { auditMs, eventMs, historyMs }: RetentionConfig): Promise<void> {
  await deleteOlder(db, { table: 'sandbox_history', time: 'ended_at', ageMs: historyMs })
  await deleteOlder(db, { table: 'sandbox_egress', time: 'decided_at', ageMs: historyMs })
  await forgetEvents(db, eventMs)
  await deleteOlder(db, { table: 'audit', time: 'created_at', ageMs: auditMs })
  await deleteOlder(db, { table: 'idempotency_key', time: 'created_at', ageMs: KEY_RETENTION_MS })
  await deleteOlder(db, { table: 'remembered_answer', time: 'created_at', ageMs: KEY_RETENTION_MS })
  await forgetEndedCredentials(db)
}
