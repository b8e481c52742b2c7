import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { inBatches } from '@sandyard/db/in-batches'
import { statementTime } from '@sandyard/db/statement-time'
import { spaced } from '@sandyard/kit/async/spaced'
import { runLoop, type Loop } from '@sandyard/kit/lifecycle/run-loop'
import { runForOwner } from '@sandyard/kit/tracing/scope'
import type { SandboxRef } from '@sandyard/runtime/types'
import { TIMEOUT } from '../../events/actor.ts'
import { isEngineOf } from '../../servers/engine-binding.ts'
import { finishEndWithLogs, killing, type EndParts } from '../end/end-sandbox.ts'
import { carryOutPause } from '../lifecycle/carry-out-pause.ts'
import { pausing, type PauseWish } from '../lifecycle/pause-steps.ts'
import type { SettleParts } from '../lifecycle/settle-sandbox.ts'
import type { Repairs } from './repairs.ts'
import { changeState } from '../sandbox-state.ts'

/** The longest time between two looks. Each finds the end times until the next one, and changes of end times wake the loop. */
const REAP_EVERY_MS = 1000
/** After the end time: the clock of the database decides, and timers may fire early by a fraction of a millisecond. */
const AFTER_END_MS = 2
/** The pause while one has expired and was not taken: a request has locked it, or this server has no lease. */
const REPEAT_MS = 230
/** End times change with every create. */
const WAKE_GAP_MS = 200

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
 * The loop that ends expired sandboxes. It sleeps until the next end time, a second at most: one look a second costs an idle server a quarter of four.
 * `wake` is for end times that were set or changed.
 */
export function startReaper(parts: ReaperParts): Loop {
  let timer: NodeJS.Timeout | undefined
  const loop = runLoop({ name: 'expiry reaper', everyMs: REAP_EVERY_MS, log: parts.log }, async () => {
    clearTimeout(timer)
    const nextMs = await reapExpired(parts)
    if (nextMs === undefined || nextMs >= REAP_EVERY_MS) return
    timer = setTimeout(() => loop.wake(), nextMs > 0 ? nextMs + AFTER_END_MS : REPEAT_MS).unref()
  })
  const wake = spaced(WAKE_GAP_MS, () => loop.wake())
  const stop = async (): Promise<void> => {
    wake[Symbol.dispose]()
    await loop.stop()
    clearTimeout(timer)
  }
  return { wake, stop, [Symbol.asyncDispose]: stop }
}

/**
 * Ends or pauses expired sandboxes. When this returns they are unreachable; removals and pauses continue in the background, so a slow one
 * delays no other. Several servers may run it at once: each sandbox is taken by one of them.
 *
 * @returns how long the next one has until its end time, if one runs
 */
export async function reapExpired(parts: ReaperParts): Promise<number | undefined> {
  // Mostly there is nothing to do, and one statement costs less than a transaction.
  const nextMs = await msUntilNext(parts)
  if (nextMs === undefined || nextMs > 0) return nextMs
  await inBatches({ size: BATCH, most: BATCHES }, async (size) => {
    const expired = await takeExpired(parts, size)
    for (const { ref, teamId, pause } of expired) {
      const end = (): Promise<unknown> => (pause === undefined ? finishEndWithLogs(parts, ref) : pauseExpired(parts, ref, pause))
      void runForOwner(teamId, () => parts.repairs.run(ref, end))
    }
    return expired.length
  })
  return await msUntilNext(parts)
}

/** Negative for one that has expired. Undefined when none runs, and after a move to another engine. */
async function msUntilNext({ database, engineId }: ReaperParts): Promise<number | undefined> {
  const next = await database.db
    .selectFrom('sandbox')
    .select(sql<number>`(extract(epoch from expires_at - clock_timestamp()) * 1000)::float8`.as('ms'))
    .where('state', '=', 'running')
    .where('expires_at', 'is not', null)
    .where(isEngineOf(engineId))
    .orderBy('expires_at')
    .limit(1)
    .executeTakeFirst()
  return next?.ms
}

interface Expired {
  readonly ref: SandboxRef
  readonly teamId: string
  /** Undefined for a sandbox that ends. */
  readonly pause: PauseWish | undefined
}

function selectDue(db: Db, engineId: string) {
  return db
    .selectFrom('sandbox')
    .select(['sandbox_id', 'incarnation', 'team_id', 'auto_pause', 'auto_pause_memory'])
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
      return { ref: { sandboxId: row.sandbox_id, incarnation: row.incarnation }, teamId: row.team_id, pause }
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
