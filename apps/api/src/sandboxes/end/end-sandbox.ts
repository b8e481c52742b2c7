import type { Database } from '@sandyard/db/database'
import { within } from '@sandyard/kit/async/within'
import { inSpan } from '@sandyard/kit/tracing/span'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { SandboxRef } from '@sandyard/runtime/types'
import { SERVER, type Actor } from '../../events/actor.ts'
import type { SandboxTimings } from '../../metrics/sandbox-timings.ts'
import { storeLastLogs, type LastLogsParts } from '../../sandbox-logs/store-last-logs.ts'
import { releaseKey } from '../../idempotency/sandbox-keys.ts'
import { moveToHistory } from './move-to-history.ts'
import { announce, changeState, type StateChange } from '../sandbox-state.ts'

export interface EndParts {
  readonly database: Database
  readonly runtime: SandboxRuntime
  readonly timings: SandboxTimings
}

/** Deadline for the runtime to remove a sandbox. */
export const REMOVE_TIMEOUT_MS = 30_000

/**
 * Why a sandbox ends; stored in the event log and the history. `engine_gone`: its processes ended while the engine was away. `out_of_memory`: its
 * daemon was killed for the memory of the sandbox. `lost`: it has ended or is absent, and nothing tells why.
 */
export type EndReason =
  | 'killed'
  | 'expired'
  | 'lost'
  | 'out_of_memory'
  | 'engine_gone'
  | 'create_failed'
  | 'create_abandoned'
  | 'engine_moved'
  | 'restored'

/** The state change that begins the end. */
export function killing(reason: EndReason, actor: Actor, from?: StateChange['from']): StateChange {
  const event = { kind: 'sandbox.killing', data: { reason } } as const
  return { ...(from !== undefined && { from }), to: 'killing', actor, set: { end_reason: reason }, event }
}

/**
 * The first half of the end: hides the sandbox and stops its traffic. If this process dies, the reconciler does the second half. Returns
 * false when the sandbox is already ending, gone or in another state.
 */
export async function beginEnd(database: Database, ref: SandboxRef, change: StateChange): Promise<boolean> {
  return database.transaction((tx) => changeState(tx, ref, change))
}

/**
 * The second half: removes the sandbox from the engine, then moves its row to the history. Safe to repeat, also from several servers at
 * once.
 *
 * @param timeoutMs - deadline of the removal
 * @throws AppError of the runtime; `deadline_exceeded`. The reconciler retries
 */
export async function finishEnd(parts: EndParts, ref: SandboxRef, timeoutMs: number = REMOVE_TIMEOUT_MS): Promise<void> {
  const { database, runtime, timings } = parts
  const remove = (): Promise<void> => within({ what: 'the removal of the sandbox', timeoutMs }, () => runtime.remove(ref))
  await timings.time('kill', () => inSpan('engine remove', { 'sandyard.sandbox_id': ref.sandboxId }, remove))
  await database.transaction(async (tx) => {
    const ended = await moveToHistory(tx, ref)
    if (ended === undefined) return
    await releaseKey(tx, ref.sandboxId)
    const data = { actor: ended.end_actor ?? SERVER, reason: ended.reason }
    await announce(tx, ref, { teamId: ended.team_id, kind: 'sandbox.ended', data })
  })
}

/** The second half of the end of a sandbox whose daemon still runs: first stores the last entries of its log. */
export async function finishEndWithLogs(parts: EndParts & LastLogsParts, ref: SandboxRef): Promise<void> {
  await storeLastLogs(parts, ref)
  await finishEnd(parts, ref)
}
