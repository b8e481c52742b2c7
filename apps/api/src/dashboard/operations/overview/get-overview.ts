import { sql } from 'kysely'
import { OverviewQuery, type Overview } from '@sandyard/dashboard-contract/overview'
import type { Db } from '@sandyard/db/database'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerTeamRoute } from '../../dashboard-route.ts'
import { readBuildRows } from '../builds/read-builds.ts'
import { countStates } from '../sandboxes/read-rows.ts'
import { readNewestEvents } from './read-events.ts'

const RANGE_SECONDS = { '1h': 3600, '6h': 6 * 3600, '24h': 24 * 3600, '7d': 7 * 24 * 3600 } as const
const BUCKETS = 60
const FAILED_BUILDS = 5
const EVENTS = 20
/** The newest events of the team that the times of creates are read from. */
const MAX_EVENTS = 5000

/** `GET /overview`: the last day unless the query says otherwise. Operations that are answered with 501 are counted for all teams together, in `/metrics`. */
export const getOverviewRoute: ApiRoute = (app, ctx) =>
  registerTeamRoute(app, {
    operation: 'GET /overview',
    schema: { querystring: OverviewQuery },
    whileBlocked: true,
    handle: async ({ team, query }) => {
      const { db } = ctx.database
      const seconds = RANGE_SECONDS[query.range ?? '24h']
      const [counts, series, createMs, failed, events] = await Promise.all([
        countStates(db, team, ctx.config.limits),
        readSeries(db, team.id, seconds),
        readCreateTimes(db, team.id, seconds),
        readBuildRows(db, team.id, { status: 'failed', limit: FAILED_BUILDS }),
        readNewestEvents(db, team.id, EVENTS),
      ])
      const startsInRange = series.reduce((sum, { starts }) => sum + starts, 0)
      return { counts, series, startsInRange, createMs, failedBuilds: failed.rows, events, unserved: [] }
    },
  })

/** The samples of the range in buckets of equal width, oldest first; those without a sample are left out. */
async function readSeries(db: Db, teamId: string, seconds: number): Promise<Overview['series']> {
  const { rows } = await sql<{ at: Date; running: number; starts: number }>`
    select max(sampled_at) as at, max(concurrent)::int as running, sum(started)::int as starts
    from team_metric
    where team_id = ${teamId} and sampled_at > statement_timestamp() - make_interval(secs => ${seconds})
    group by floor(extract(epoch from sampled_at) / ${sql.lit(seconds / BUCKETS)}) order by at desc limit ${BUCKETS}
  `.execute(db)
  return rows.toReversed().map(({ at, ...figures }) => ({ at: at.toISOString(), ...figures }))
}

/** How long creates took, from the reservation to the state `running`; null without one among the newest events. */
async function readCreateTimes(db: Db, teamId: string, seconds: number): Promise<Overview['createMs']> {
  const { rows } = await sql<{ p50: number | null; p95: number | null }>`
    with newest as (
      select kind, subject, created_at from event where team_id = ${teamId} order by event_id desc limit ${MAX_EVENTS}
    ), taken as (
      select extract(epoch from min(done.created_at) - begun.created_at) * 1000 as ms
      from newest as begun join newest as done on done.subject = begun.subject and done.kind = 'sandbox.running'
      where begun.kind = 'sandbox.starting' and begun.created_at > statement_timestamp() - make_interval(secs => ${seconds})
      group by begun.subject, begun.created_at
    )
    select round(percentile_cont(0.5) within group (order by ms))::int as p50,
      round(percentile_cont(0.95) within group (order by ms))::int as p95 from taken
  `.execute(db)
  const { p50 = null, p95 = null } = rows[0] ?? {}
  return p50 === null || p95 === null ? null : { p50, p95 }
}
