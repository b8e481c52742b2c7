import { sql } from 'kysely'
import type { HostView } from '@sandyard/dashboard-contract/host'
import type { Db } from '@sandyard/db/database'
import { RUNNING_STATES } from '../../../sandboxes/running-states.ts'

const MAX_TEAMS = 50
const MAX_SLOW = 10
/** The newest creates of the last day that the times are computed of. */
const MAX_CREATES = 1000

/** @param defaultLimit - of concurrent sandboxes, for teams without one of their own */
export async function readHostTeams(db: Db, defaultLimit: number): Promise<HostView['teams']> {
  const { rows } = await sql<HostView['teams'][number]>`
    select team.id as "teamId", team.name, count(*)::int as running, coalesce(team.max_sandboxes, ${defaultLimit})::int as "limit"
    from sandbox join team on team.id = sandbox.team_id where sandbox.state in (${sql.join(RUNNING_STATES)})
    group by team.id order by running desc, team.id limit ${MAX_TEAMS}
  `.execute(db)
  return rows
}

export async function readHostCounts(
  db: Db,
): Promise<{ readonly running: number; readonly paused: number; readonly parked: number; readonly parking: number }> {
  const { rows } = await sql<{ running: number; paused: number; parked: number; parking: number }>`
    select count(*) filter (where state in (${sql.join(RUNNING_STATES)}))::int as running,
      count(*) filter (where state = 'paused')::int as paused,
      (select count(*)::int from parked_sandbox where state = 'parked') as parked,
      (select count(*)::int from parked_sandbox where state = 'parking') as parking
    from sandbox
  `.execute(db)
  return rows[0] ?? { running: 0, paused: 0, parked: 0, parking: 0 }
}

/** How long the newest creates took, from the reservation to the state `running`, and the slowest of them. */
export async function readCreates(db: Db): Promise<Pick<HostView, 'createMs' | 'slowCreates'>> {
  const { rows } = await sql<{ subject: string; at: Date; ms: number }>`
    with begun as (
      select subject, created_at from event
      where kind = 'sandbox.starting' and created_at > statement_timestamp() - interval '1 day'
      order by created_at desc limit ${MAX_CREATES}
    )
    select begun.subject, begun.created_at as at, round(extract(epoch from done.created_at - begun.created_at) * 1000)::int as ms
    from begun cross join lateral (
      select created_at from event where event.subject = begun.subject and kind = 'sandbox.running' order by event_id limit 1
    ) as done
    order by ms
  `.execute(db)
  const atShare = (share: number): number => rows[Math.min(rows.length - 1, Math.floor(rows.length * share))]?.ms ?? 0
  return {
    createMs: rows.length === 0 ? null : { p50: atShare(0.5), p95: atShare(0.95) },
    slowCreates: rows
      .slice(-MAX_SLOW)
      .toReversed()
      .map(({ subject: sandboxId, at, ms }) => ({ sandboxId, at: at.toISOString(), ms })),
  }
}
