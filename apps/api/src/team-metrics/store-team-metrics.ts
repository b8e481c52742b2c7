import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import { isOccupied } from '../sandboxes/sandbox-queries.ts'

export interface TeamTick {
  /** The tick before. */
  readonly since: Date
  readonly at: Date
}

/** Starts are counted with this delay: an event has its time a moment before its transaction commits. */
const DELAY = '1 second'

/**
 * Stores a row for each team with sandboxes, with starts since the tick before, or with sandboxes at the tick before: so a series falls to
 * zero.
 */
export async function storeTeamMetrics(tx: Tx, { since, at }: TeamTick): Promise<void> {
  await sql`
    insert into team_metric (team_id, sampled_at, concurrent, started)
    select team_id, ${at}::timestamptz, sum(concurrent), sum(started)
    from (
      select team_id, count(*) as concurrent, 0 as started from sandbox where ${isOccupied} group by team_id
      union all
      select team_id, 0, count(*) from event
      where kind = 'sandbox.running' and created_at >= ${since}::timestamptz - ${DELAY}::interval
        and created_at < ${at}::timestamptz - ${DELAY}::interval
      group by team_id
      union all
      select team_id, 0, 0 from team_metric where sampled_at = ${since}::timestamptz and concurrent > 0
    ) as counted
    where exists (select from team where team.id = counted.team_id)
    group by team_id
    on conflict do nothing
  `.execute(tx)
}
