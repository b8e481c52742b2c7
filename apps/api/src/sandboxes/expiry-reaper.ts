import { sql } from 'kysely'
import { inBatches } from '@sandyard/db/in-batches'
import type { SandboxRef } from '@sandyard/runtime/types'
import { TIMEOUT } from '../events/actor.ts'
import { isEngineOf } from '../servers/engine-binding.ts'
import { finishEnd, killing, type EndParts } from './end-sandbox.ts'
import type { Repairs } from './repairs.ts'
import { changeState } from './sandbox-state.ts'

/** With the loop's jitter, an expired sandbox begins to end within a quarter of a second. */
export const REAP_EVERY_MS = 230

const BATCH = 100
/** Cap of one run. Several runs handle a larger burst. */
const BATCHES = 10

export interface ReaperParts extends EndParts {
  readonly repairs: Repairs
  /** The engine that the database belonged to when this server started. After a move nothing is taken. */
  readonly engineId: string
}

/**
 * Ends expired sandboxes. When this returns they are unreachable; removals continue in the background, so a slow one delays no other.
 * Several servers may run it at once: each sandbox is taken by one of them.
 */
export async function reapExpired(parts: ReaperParts): Promise<void> {
  await inBatches({ size: BATCH, most: BATCHES }, async (size) => {
    const expired = await takeExpired(parts, size)
    for (const ref of expired) void parts.repairs.run(ref, () => finishEnd(parts, ref))
    return expired.length
  })
}

/** Skips locked rows: a sandbox that is being extended is checked with its new end time in the next run. */
async function takeExpired({ database, engineId }: ReaperParts, size: number): Promise<SandboxRef[]> {
  return database.transaction(async (tx) => {
    const due = await tx
      .selectFrom('sandbox')
      .select(['sandbox_id', 'incarnation'])
      .where('state', '=', 'running')
      .where('expires_at', '<=', sql<Date>`clock_timestamp()`)
      .where(isEngineOf(engineId))
      .orderBy('expires_at')
      .limit(size)
      .forUpdate()
      .skipLocked()
      .execute()
    const refs = due.map((row) => ({ sandboxId: row.sandbox_id, incarnation: row.incarnation }))
    for (const ref of refs) await changeState(tx, ref, killing('expired', TIMEOUT))
    return refs
  })
}
