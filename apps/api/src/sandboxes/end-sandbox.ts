import { sql } from 'kysely'
import type { Database, Tx } from '@sandyard/db/database'
import { within } from '@sandyard/kit/async/within'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { SandboxRef } from '@sandyard/runtime/types'
import type { Actor } from '../events/actor.ts'
import { releaseKey } from './idempotency.ts'
import { announce, changeState, type StateChange } from './sandbox-state.ts'

export interface EndParts {
  readonly database: Database
  readonly runtime: SandboxRuntime
}

/** Deadline for the runtime to remove a sandbox. */
export const REMOVE_TIMEOUT_MS = 30_000

/** Why a sandbox ends; stored in the event log and the history. */
export type EndReason = 'killed' | 'expired' | 'lost' | 'create_failed' | 'create_abandoned' | 'engine_moved'

/** The state change that begins the end. */
export function killing(reason: EndReason, actor: Actor): StateChange {
  return { to: 'killing', actor, set: { end_reason: reason }, event: { kind: 'sandbox.killing', data: { reason } } }
}

/**
 * The first half of the end: hides the sandbox and stops its traffic. If this process dies, the reconciler does the second half. Returns
 * false when the sandbox is already ending or gone.
 */
export async function beginEnd(database: Database, ref: SandboxRef, reason: EndReason, actor: Actor): Promise<boolean> {
  return database.transaction((tx) => changeState(tx, ref, killing(reason, actor)))
}

/**
 * The second half: removes the sandbox from the engine, then moves its row to the history. Safe to repeat, also from several servers at
 * once.
 *
 * @param timeoutMs - deadline of the removal
 * @throws AppError of the runtime; `deadline_exceeded`. The reconciler retries
 */
export async function finishEnd({ database, runtime }: EndParts, ref: SandboxRef, timeoutMs: number = REMOVE_TIMEOUT_MS): Promise<void> {
  await within({ what: 'the removal of the sandbox', timeoutMs }, () => runtime.remove(ref))
  await database.transaction(async (tx) => {
    const teamId = await moveToHistory(tx, ref)
    if (teamId === undefined) return
    await releaseKey(tx, ref.sandboxId)
    await announce(tx, ref, { teamId, kind: 'sandbox.ended' })
  })
}

/** Removes the row from the live sandboxes; undefined when another caller did. */
async function moveToHistory(tx: Tx, { sandboxId, incarnation }: SandboxRef): Promise<string | undefined> {
  const { rows } = await sql<{ team_id: string }>`
    with gone as (
      delete from sandbox where sandbox_id = ${sandboxId} and incarnation = ${incarnation} and state = 'killing' returning *
    )
    insert into sandbox_history (
      sandbox_id, incarnation, team_id, template_id, build_id, alias, reason, cpu_count, memory_mib, disk_mib,
      created_at, started_at, ended_at, state_changes
    )
    select gone.sandbox_id, gone.incarnation, gone.team_id, gone.template_id, gone.build_id, gone.alias,
      coalesce(gone.end_reason, 'killed'), build.cpu_count, build.memory_mib, build.disk_mib,
      gone.created_at, gone.started_at, gone.state_changed_at,
      coalesce((
        select jsonb_agg(
          jsonb_strip_nulls(jsonb_build_object('kind', kind, 'at', event.created_at, 'reason', data -> 'reason')) order by event_id
        )
        from event where event.subject = gone.sandbox_id
      ), '[]')
    from gone join build using (build_id)
    on conflict (sandbox_id) do update set ended_at = excluded.ended_at
    returning team_id
  `.execute(tx)
  return rows[0]?.team_id
}
