import type { Keep, PauseHandle, SandboxRef } from '@sandyard/runtime/types'
import type { Db } from '@sandyard/db/database'
import { SERVER } from '../../events/actor.ts'
import { changeState, type MemoryLoss } from '../sandbox-state.ts'
import { askForPause, paused } from './pause-steps.ts'
import { settleOrLater, type SettleParts } from './settle-sandbox.ts'

/** What a paused sandbox is paused again for: it has lost its memory, the host needs the memory, or something thawed it. */
export interface PauseAgain {
  readonly keep: Keep
  readonly reason: Exclude<MemoryLoss, 'processes_ended'>
}

/**
 * Pauses a paused sandbox again, so that its row and the engine agree: also drops its memory. Requests wait meanwhile, as during a pause. Does
 * nothing in another state.
 *
 * @throws AppError of the runtime; the sandbox is then paused as before
 */
export async function pauseAgain(parts: SettleParts, ref: SandboxRef, { keep, reason }: PauseAgain): Promise<void> {
  const { database, serverId, log } = parts
  using _held = parts.inFlight.hold(ref)
  const begin = { from: 'paused', to: 'pausing', actor: SERVER, serverId, set: { server_id: serverId } } as const
  const event = { kind: 'sandbox.pausing', data: { keep, reason } } as const
  if (!(await database.transaction((tx) => changeState(tx, ref, { ...begin, event })))) return
  try {
    const handle = await askForPause(parts.runtime, ref, { keep, former: await findHandle(database.db, ref) })
    const isLost = handle.keep === 'files' && (keep === 'memory' || reason !== 'thawed')
    const kind = isLost ? 'sandbox.memory_lost' : 'sandbox.paused'
    const change = paused(handle, { from: 'pausing', actor: SERVER, event: { kind, data: { keep: handle.keep, reason } } })
    await database.transaction((tx) => changeState(tx, ref, { ...change, owner: serverId }))
    log.warn({ ...ref, keep, reason }, 'a paused sandbox was paused again')
  } catch (err) {
    await settleOrLater(parts, ref)
    throw err
  }
}

/** Of the pause before. */
async function findHandle(db: Db, { sandboxId, incarnation }: SandboxRef): Promise<PauseHandle | null> {
  const row = await db
    .selectFrom('sandbox')
    .select('pause_handle')
    .where('sandbox_id', '=', sandboxId)
    .where('incarnation', '=', incarnation)
    .executeTakeFirst()
  return (row?.pause_handle ?? null) as PauseHandle | null
}
