import type { Database } from '@sandyard/db/database'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { SandboxRef } from '@sandyard/runtime/types'
import { releaseKey } from './idempotency.ts'
import { announce, changeState, type StateChange } from './sandbox-state.ts'

export interface EndParts {
  readonly database: Database
  readonly runtime: SandboxRuntime
}

/** Why a sandbox ends; kept in the event log. */
export type EndReason = 'killed' | 'expired' | 'lost' | 'create_failed' | 'create_abandoned'

/** The change of state that begins an end. */
export function killing(reason: EndReason): StateChange {
  return { to: 'killing', event: { kind: 'sandbox.killing', data: { reason } } }
}

/**
 * The first half of an end: from here on nobody sees or reaches the sandbox, and if this process dies the reconciler does the
 * second half. False when it is already ending or gone.
 */
export async function beginEnd(database: Database, ref: SandboxRef, reason: EndReason): Promise<boolean> {
  return database.transaction((tx) => changeState(tx, ref, killing(reason)))
}

/**
 * The second half: frees what the sandbox held, then forgets it. Repeating it, also from several servers at once, is safe.
 *
 * @throws AppError of the runtime; the sandbox is then tried again by the reconciler
 */
export async function finishEnd({ database, runtime }: EndParts, ref: SandboxRef): Promise<void> {
  await runtime.remove(ref)
  await database.transaction(async (tx) => {
    const gone = await tx
      .deleteFrom('sandbox')
      .where('sandbox_id', '=', ref.sandboxId)
      .where('incarnation', '=', ref.incarnation)
      .where('state', '=', 'killing')
      .returning('team_id')
      .executeTakeFirst()
    if (gone === undefined) return
    await releaseKey(tx, ref.sandboxId)
    await announce(tx, ref, { teamId: gone.team_id, kind: 'sandbox.ended' })
  })
}
