import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { inBatches } from '@sandyard/db/in-batches'
import { statementTime } from '@sandyard/db/statement-time'
import type { SandboxRef } from '@sandyard/runtime/types'
import { TIMEOUT } from '../../events/actor.ts'
import { isEngineOf } from '../../servers/engine-binding.ts'
import { finishEndWithLogs, killing, type EndParts } from '../end/end-sandbox.ts'
import { carryOutPause } from '../lifecycle/carry-out-pause.ts'
import { pausing, type PauseWish } from '../lifecycle/pause-steps.ts'
import type { SettleParts } from '../lifecycle/settle-sandbox.ts'
import type { Repairs } from './repairs.ts'
import { changeState } from '../sandbox-state.ts'

/** With the loop's jitter, an expired sandbox begins to end within a quarter of a second. */
export const REAP_EVERY_MS = 230

const BATCH = 100
/** Cap of one run. Several runs handle a larger burst. */
const BATCHES = 10

/** After a pause at the end time has failed, the sandbox runs on for this long. */
const RETRY_PAUSE_SECONDS = 10

export interface ReaperParts extends EndParts, SettleParts {
  readonly repairs: Repairs
  /** The engine that the database belonged to when this server started. After a move nothing is taken. */
  readonly engineId: string
}

/**
 * Ends or pauses expired sandboxes. When this returns they are unreachable; removals and pauses continue in the background, so a slow one
 * delays no other. Several servers may run it at once: each sandbox is taken by one of them.
 */
export async function reapExpired(parts: ReaperParts): Promise<void> {
  // Four times a second there is nothing to do, and one statement costs less than a transaction.
  if ((await selectDue(parts.database.db, parts.engineId).limit(1).executeTakeFirst()) === undefined) return
  await inBatches({ size: BATCH, most: BATCHES }, async (size) => {
    const expired = await takeExpired(parts, size)
    for (const { ref, pause } of expired) {
      void parts.repairs.run(ref, () => (pause === undefined ? finishEndWithLogs(parts, ref) : pauseExpired(parts, ref, pause)))
    }
    return expired.length
  })
}

interface Expired {
  readonly ref: SandboxRef
  /** Undefined for a sandbox that ends. */
  readonly pause: PauseWish | undefined
}

function selectDue(db: Db, engineId: string) {
  return db
    .selectFrom('sandbox')
    .select(['sandbox_id', 'incarnation', 'auto_pause', 'auto_pause_memory'])
    .where('state', '=', 'running')
    .where('expires_at', '<=', statementTime())
    .where(isEngineOf(engineId))
    .orderBy('expires_at')
}

/** Skips locked rows: a sandbox that is being extended is checked with its new end time in the next run. */
async function takeExpired({ database, engineId, serverId }: ReaperParts, size: number): Promise<Expired[]> {
  return database.transaction(async (tx) => {
    const due = await selectDue(tx, engineId).limit(size).forUpdate().skipLocked().execute()
    const expired = due.map((row): Expired => {
      const keep = row.auto_pause_memory ? 'memory' : 'files'
      const pause = row.auto_pause ? ({ keep, actor: TIMEOUT, isResponsive: true } as const) : undefined
      return { ref: { sandboxId: row.sandbox_id, incarnation: row.incarnation }, pause }
    })
    const taken: Expired[] = []
    for (const each of expired) {
      const { ref, pause } = each
      // Without the lease of this server no pause begins: another server pauses the sandbox.
      const change = pause === undefined ? killing('expired', TIMEOUT) : pausing(pause, serverId)
      if (await changeState(tx, ref, change)) taken.push(each)
    }
    return taken
  })
}

async function pauseExpired(parts: ReaperParts, ref: SandboxRef, pause: PauseWish): Promise<void> {
  try {
    await carryOutPause(parts, ref, pause)
  } catch (err) {
    await parts.database.db
      .updateTable('sandbox')
      .set({ expires_at: sql<Date>`clock_timestamp() + make_interval(secs => ${RETRY_PAUSE_SECONDS})` })
      .where('sandbox_id', '=', ref.sandboxId)
      .where('incarnation', '=', ref.incarnation)
      .where('state', 'in', ['running', 'pausing'])
      // Unless a request has extended it meanwhile.
      .where('expires_at', '<=', sql<Date>`clock_timestamp()`)
      .execute()
    throw err
  }
}
