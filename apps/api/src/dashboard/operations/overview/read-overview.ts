import { sql } from 'kysely'
import type { EventView, Overview, OverviewQuery } from '@sandyard/dashboard-contract/overview'
import type { Db } from '@sandyard/db/database'
import { secondsAgo } from '@sandyard/db/statement-time'
import { viewActors } from '../actor-views.ts'
import { actorIn, eventText } from '../event-text.ts'

type Range = NonNullable<OverviewQuery['range']>

/** Seconds of the range and of each bucket: at most 60 buckets, with the one that the range begins in. */
const RANGES: Readonly<Record<Range, { readonly seconds: number; readonly bucket: number }>> = {
  '1h': { seconds: 3600, bucket: 120 },
  '6h': { seconds: 6 * 3600, bucket: 600 },
  '24h': { seconds: 24 * 3600, bucket: 1800 },
  '7d': { seconds: 7 * 24 * 3600, bucket: 4 * 3600 },
}
/** The last events of a team that the times of creates are read from. */
const MAX_SCANNED = 5000

interface Bucket {
  readonly at: Date
  readonly running: number
  readonly starts: number
}

/** Buckets without a sample are zero. */
export async function readSeries(db: Db, teamId: string, range: Range): Promise<Overview['series']> {
  const { seconds, bucket } = RANGES[range]
  const { rows } = await sql<Bucket>`
    with bucket as (
      select to_timestamp(floor(extract(epoch from sampled_at) / ${bucket}::int) * ${bucket}::int) as at,
        max(concurrent)::int as running, sum(started)::int as starts
      from team_metric where team_id = ${teamId} and sampled_at > ${secondsAgo(seconds)} group by 1
    ), every as (
      select to_timestamp((floor(extract(epoch from statement_timestamp()) / ${bucket}::int) - number) * ${bucket}::int) as at
      from generate_series(0, ${Math.floor(seconds / bucket)}::int) as number
    )
    select every.at, coalesce(running, 0) as running, coalesce(starts, 0) as starts from every left join bucket using (at) order by every.at
  `.execute(db)
  return rows.map(({ at, running, starts }) => ({ at: at.toISOString(), running, starts }))
}

/** From the request to the state `running`, of the creates among the last events of the team. Null without one. */
export async function readCreateTimes(db: Db, teamId: string, range: Range): Promise<Overview['createMs']> {
  const { rows } = await sql<{ p50: number | null; p95: number | null }>`
    select percentile_cont(0.5) within group (order by ms) as p50, percentile_cont(0.95) within group (order by ms) as p95
    from (
      select extract(epoch from recent.created_at - began.created_at)::float8 * 1000 as ms
      from (select * from event where team_id = ${teamId} order by event_id desc limit ${MAX_SCANNED}) as recent
      cross join lateral (
        select created_at from event where subject = recent.subject and kind = 'sandbox.starting' order by event_id limit 1
      ) as began
      where recent.kind = 'sandbox.running' and recent.created_at > ${secondsAgo(RANGES[range].seconds)}
    ) as created
  `.execute(db)
  const { p50 = null, p95 = null } = rows[0] ?? {}
  return p50 === null || p95 === null ? null : { p50: Math.round(p50), p95: Math.round(p95) }
}

/** The last events of the team, newest first. */
export async function readLastEvents(db: Db, teamId: string, limit: number): Promise<EventView[]> {
  const rows = await db
    .selectFrom('event')
    .select(['event_id', 'created_at', 'kind', 'subject', 'data'])
    .where('team_id', '=', teamId)
    .orderBy('event_id', 'desc')
    .limit(limit)
    .execute()
  const view = await viewActors(
    db,
    rows.map(({ data }) => actorIn(data)),
  )
  return rows.map(({ event_id, created_at, kind, subject, data }) => {
    const stored = actorIn(data)
    const actor = view(stored)
    const text = eventText(kind, data, actor)
    return { id: String(event_id), at: created_at.toISOString(), kind, subject, text, actor: stored === null ? null : actor }
  })
}
