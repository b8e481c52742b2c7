import { sql } from 'kysely'
import type { TeamMetricName } from '@sandyard/api-contract/teams/team-metrics'
import type { Db } from '@sandyard/db/database'
import { bucketWidth, SAMPLE_SECONDS } from '../time-series/bucket-width.ts'

/** Unix seconds, both inclusive. */
export interface SeriesRange {
  readonly start: number
  readonly end: number
}

export interface TeamPoint {
  readonly at: Date
  readonly concurrent: number
  /** Starts in a second. */
  readonly startRate: number
}

/**
 * The points of a team, oldest first, as wide as control-plane.md 5.3 says of the range. A point has the highest values of its samples and
 * the time of the last one.
 */
export async function listTeamPoints(db: Db, teamId: string, range: SeriesRange): Promise<TeamPoint[]> {
  const { first, last } = await selectRange(db, teamId, range)
    .select((eb) => [eb.fn.min<Date | null>('sampled_at').as('first'), eb.fn.max<Date | null>('sampled_at').as('last')])
    .executeTakeFirstOrThrow()
  if (first === null || last === null) return []
  const width = bucketWidth(range.end - range.start, (last.getTime() - first.getTime()) / 1000)
  const rows = await selectRange(db, teamId, range)
    .select((eb) => [
      eb.fn.max<Date>('sampled_at').as('at'),
      eb.fn.max<number>('concurrent').as('concurrent'),
      eb.fn.max<number>('started').as('started'),
    ])
    .groupBy(sql`floor(extract(epoch from sampled_at) / ${sql.lit(width)})`)
    .orderBy('at')
    .execute()
  return rows.map(({ at, concurrent, started }) => ({ at, concurrent, startRate: started / SAMPLE_SECONDS }))
}

/** The first sample with the highest value; undefined without samples. */
export async function findTeamMax(
  db: Db,
  teamId: string,
  { metric, ...range }: SeriesRange & { readonly metric: TeamMetricName },
): Promise<{ at: Date; value: number } | undefined> {
  const isCount = metric === 'concurrent_sandboxes'
  const row = await selectRange(db, teamId, range)
    .select(['sampled_at', 'concurrent', 'started'])
    .orderBy(isCount ? 'concurrent' : 'started', 'desc')
    .orderBy('sampled_at')
    .limit(1)
    .executeTakeFirst()
  return row && { at: row.sampled_at, value: isCount ? row.concurrent : row.started / SAMPLE_SECONDS }
}

function selectRange(db: Db, teamId: string, { start, end }: SeriesRange) {
  return db
    .selectFrom('team_metric')
    .where('team_id', '=', teamId)
    .where('sampled_at', '>=', new Date(start * 1000))
    .where('sampled_at', '<', new Date((end + 1) * 1000))
}
