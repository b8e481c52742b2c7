import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'

/** An event of a sandbox, with what is known of the sandbox and of its run. */
export interface DescribedEvent {
  readonly eventId: number
  readonly teamId: string
  readonly kind: string
  readonly sandboxId: string
  readonly data: Readonly<Record<string, unknown>>
  readonly at: Date
  readonly sandbox: {
    readonly templateId: string
    readonly buildId: string
    readonly metadata: Readonly<Record<string, string>>
    readonly cpuCount: number
    readonly memoryMib: number
  }
  /** The number of the run in which it happened, from 1; 0 before the first one, and for an event that is older than the runs that are known. */
  readonly run: number
  /** The start of that run. */
  readonly startedAt: Date | null
}

/** Describes events of sandboxes, in the order of their ids. Those of a sandbox that the history has forgotten are left out. */
export async function describeEvents(db: Db, eventIds: readonly number[]): Promise<DescribedEvent[]> {
  if (eventIds.length === 0) return []
  const { rows } = await sql<Omit<DescribedEvent, 'sandbox'> & DescribedEvent['sandbox']>`
    select event.event_id as "eventId", event.team_id as "teamId", kind, subject as "sandboxId", data, event.created_at as at,
      known.template_id as "templateId", known.build_id as "buildId", known.metadata, known.cpu_count as "cpuCount",
      known.memory_mib as "memoryMib",
      run.number + case when event.event_id > known.forgotten_through then known.forgotten_runs else 0 end as run, run.started_at as "startedAt"
    from event
    join lateral (
      select template_id, build_id, metadata, cpu_count, memory_mib, forgotten_runs, forgotten_through from (
        select sandbox.template_id, build_id, metadata, cpu_count, memory_mib, forgotten_runs, forgotten_through
        from sandbox join build using (build_id) where sandbox_id = event.subject
        union all
        select template_id, build_id, metadata, cpu_count, memory_mib, forgotten_runs, forgotten_through
        from sandbox_history where sandbox_id = event.subject
      ) as either limit 1
    ) as known on true
    cross join lateral (
      select count(*) as number, max(created_at) as started_at from event as started
      where started.subject = event.subject and started.event_id <= event.event_id
        and started.kind in ('sandbox.running', 'sandbox.resumed')
    ) as run
    where event.event_id = any(${[...eventIds]}::bigint[])
    order by event.event_id
  `.execute(db)
  return rows.map(({ templateId, buildId, metadata, cpuCount, memoryMib, ...row }) => {
    return { ...row, sandbox: { templateId, buildId, metadata, cpuCount, memoryMib } }
  })
}

/** Whether a sandbox is or was the team's, as long as it lives and while the history keeps it. */
export async function isSandboxOfTeam(db: Db, teamId: string, sandboxId: string): Promise<boolean> {
  const { rows } = await sql<{ known: boolean }>`
    select exists(select from sandbox where sandbox_id = ${sandboxId} and team_id = ${teamId})
      or exists(select from sandbox_history where sandbox_id = ${sandboxId} and team_id = ${teamId}) as known
  `.execute(db)
  return rows[0]?.known === true
}
