import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { bucketWidth, SAMPLE_SECONDS } from '../time-series/bucket-width.ts'
import type { Sample } from './sample.ts'

export interface SampleQuery {
  readonly teamId: string
  readonly sandboxId: string
  /** Unix seconds, inclusive. Default: the recorded range. */
  readonly start?: number | undefined
  readonly end?: number | undefined
}

const COLUMNS = [
  'sampled_at',
  'cpu_count',
  'cpu_used_pct',
  'mem_used',
  'mem_cache',
  'mem_total',
  'disk_used',
  'disk_total',
] as const satisfies (keyof Sample)[]

/**
 * The samples of a sandbox of the team, oldest first; none for an unknown sandbox. A range of an hour or more is returned in points, each
 * the mean of its samples at the time of the last one.
 */
export async function listSamples(db: Db, { teamId, sandboxId, start, end }: SampleQuery): Promise<Sample[]> {
  const recorded = await findRange(db, teamId, sandboxId)
  if (recorded === undefined) return []
  const fromMs = Math.max(recorded.first.getTime(), (start ?? 0) * 1000)
  // The whole second of the end.
  const toMs = Math.min(recorded.last.getTime(), end === undefined ? Infinity : end * 1000 + 999)
  if (fromMs > toMs) return []
  const samples = db
    .selectFrom('sandbox_metric')
    .where('sandbox_id', '=', sandboxId)
    .where('team_id', '=', teamId)
    .where('sampled_at', '>=', new Date(fromMs))
    .where('sampled_at', '<=', new Date(toMs))
  const width = bucketWidth((toMs - fromMs) / 1000)
  if (width === SAMPLE_SECONDS) return samples.select(COLUMNS).orderBy('sampled_at').execute()
  const bucket = sql`floor(extract(epoch from sampled_at) / ${sql.lit(width)})`
  return samples
    .select((eb) => [
      eb.fn.max('sampled_at').as('sampled_at'),
      eb.fn.max('cpu_count').as('cpu_count'),
      sql<number>`round(avg(cpu_used_pct)::numeric, 2)::double precision`.as('cpu_used_pct'),
      sql<number>`avg(mem_used)::bigint`.as('mem_used'),
      sql<number>`avg(mem_cache)::bigint`.as('mem_cache'),
      eb.fn.max('mem_total').as('mem_total'),
      sql<number>`avg(disk_used)::bigint`.as('disk_used'),
      eb.fn.max('disk_total').as('disk_total'),
    ])
    .groupBy(bucket)
    .orderBy('sampled_at')
    .execute()
}

async function findRange(db: Db, teamId: string, sandboxId: string): Promise<{ first: Date; last: Date } | undefined> {
  const { first, last } = await db
    .selectFrom('sandbox_metric')
    .select((eb) => [eb.fn.min<Date | null>('sampled_at').as('first'), eb.fn.max<Date | null>('sampled_at').as('last')])
    .where('sandbox_id', '=', sandboxId)
    .where('team_id', '=', teamId)
    .executeTakeFirstOrThrow()
  return first === null || last === null ? undefined : { first, last }
}

const ID = /^[a-z0-9]+$/

/** The last sample of each of these sandboxes of the team that has one. A text that is no id is an unknown sandbox. */
export async function listLatestSamples(db: Db, teamId: string, sandboxIds: readonly string[]): Promise<Map<string, Sample>> {
  const { rows } = await sql<Sample & { sandbox_id: string }>`
    select latest.* from unnest(${sandboxIds.filter((id) => ID.test(id))}::text[]) as asked (sandbox_id)
    cross join lateral (
      select * from sandbox_metric
      where sandbox_metric.sandbox_id = asked.sandbox_id and team_id = ${teamId}::uuid
      order by sampled_at desc limit 1
    ) as latest
  `.execute(db)
  return new Map(rows.map((row) => [row.sandbox_id, row]))
}
