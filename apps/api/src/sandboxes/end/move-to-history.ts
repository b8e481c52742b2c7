import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import type { SandboxRef } from '@sandyard/runtime/types'

/** Changes that `sandbox_history.state_changes` has: the last ones, without those of the end time and the network. */
const MAX_CHANGES = 1000

export interface EndedSandbox {
  readonly team_id: string
  readonly reason: string
  /** Who ended it, as its event has it. */
  readonly end_actor: Readonly<Record<string, unknown>> | null
}

/**
 * Moves an ending sandbox from the live ones to the history. It ran from each start or resume until the pause or the end that followed, besides the runs whose
 * events were removed. Each part reads only the events that it needs, for a sandbox that has a million of them.
 *
 * @returns undefined when another caller has moved it
 */
export async function moveToHistory(tx: Tx, { sandboxId, incarnation }: SandboxRef): Promise<EndedSandbox | undefined> {
  const { rows } = await sql<EndedSandbox>`
    with gone as (
      delete from sandbox where sandbox_id = ${sandboxId} and incarnation = ${incarnation} and state = 'killing' returning *
    ), run as (
      select kind, created_at as began_at, lead(created_at) over (order by event_id) as ended_at
      from event where subject = ${sandboxId} and kind in ('sandbox.running', 'sandbox.resumed', 'sandbox.paused', 'sandbox.killing')
    ), change as (
      select event_id, jsonb_strip_nulls(jsonb_build_object('kind', kind, 'at', created_at, 'reason', data -> 'reason')) as change
      from event where subject = ${sandboxId} and kind not in ('sandbox.timeout_changed', 'sandbox.network_changed')
      order by event_id desc limit ${MAX_CHANGES}
    )
    insert into sandbox_history (
      sandbox_id, incarnation, team_id, template_id, build_id, alias, reason, cpu_count, memory_mib, disk_mib,
      created_at, started_at, ended_at, metadata, state_changes, run_ms, end_actor, forgotten_runs, forgotten_through
    )
    select gone.sandbox_id, gone.incarnation, gone.team_id, gone.template_id, gone.build_id, gone.alias,
      coalesce(gone.end_reason, 'killed'), build.cpu_count, build.memory_mib, build.disk_mib,
      gone.created_at, gone.started_at, gone.state_changed_at, gone.metadata,
      coalesce((select jsonb_agg(change order by event_id) from change), '[]'),
      gone.forgotten_run_ms + coalesce((
        select sum(extract(epoch from coalesce(ended_at, gone.state_changed_at) - began_at) * 1000)::bigint
        from run where kind in ('sandbox.running', 'sandbox.resumed')
      ), 0),
      (select data -> 'actor' from event where subject = ${sandboxId} and kind = 'sandbox.killing' order by event_id desc limit 1),
      gone.forgotten_runs, gone.forgotten_through
    from gone join build using (build_id)
    on conflict (sandbox_id) do update set ended_at = excluded.ended_at
    returning team_id, reason, end_actor
  `.execute(tx)
  return rows[0]
}
