import { sql, type RawBuilder } from 'kysely'
import type { Usage, UsageQuery, UsageRow } from '@sandyard/dashboard-contract/usage'
import type { Db } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import { templateName } from '../row-texts.ts'

const MAX_ROWS = 500
/** Sandboxes that are counted, the ones that ended last: more is said by `isCut`. */
const MAX_SANDBOXES = 20_000
const HOUR_MS = 3_600_000
/** The longest range by its buckets: at most 744 and 366 of them. */
const BUCKETS = { hour: { ms: HOUR_MS, days: 31 }, day: { ms: 24 * HOUR_MS, days: 366 } } as const

interface StoredRow {
  readonly id: string
  readonly name: string
  readonly sandboxes: number
  readonly hours: number
  readonly vcpu: number
  readonly memory: number
  readonly total_sandboxes: number
  readonly total_hours: number
  readonly total_vcpu: number
  readonly total_memory: number
}

interface Range {
  readonly from: Date
  readonly to: Date
  readonly bucketMs: number
}

/**
 * What the sandboxes of a team used in a time: running ones and those of the history, by their runs, so pauses do not count. A group for each
 * template, key or value of a pair of metadata. @throws AppError `invalid_argument` for a wrong range
 */
export async function readUsage(db: Db, team: { readonly id: string; readonly name: string }, query: UsageQuery): Promise<Usage> {
  const range = rangeOf(query)
  const [{ rows }, series, isTooMany] = await Promise.all([
    selectRows(team, query, range).execute(db),
    readSeries(db, team.id, range),
    hasTooMany(db, team.id, range),
  ])
  const [first] = rows
  return {
    from: range.from.toISOString(),
    to: range.to.toISOString(),
    rows: rows.slice(0, MAX_ROWS).map(({ id, name, sandboxes, hours, vcpu, memory }) => ({
      id,
      name,
      ...toFigures({ sandboxes, hours, vcpu, memory }),
    })),
    total: toFigures({
      sandboxes: first?.total_sandboxes ?? 0,
      hours: first?.total_hours ?? 0,
      vcpu: first?.total_vcpu ?? 0,
      memory: first?.total_memory ?? 0,
    }),
    series,
    isCut: rows.length > MAX_ROWS || isTooMany,
  }
}

function toFigures(row: Pick<StoredRow, 'sandboxes' | 'hours' | 'vcpu' | 'memory'>): Omit<UsageRow, 'id' | 'name'> {
  return { sandboxes: row.sandboxes, sandboxHours: row.hours, vcpuHours: row.vcpu, memoryGibHours: row.memory }
}

function rangeOf({ from, to, by, metadataKey, bucket = 'day' }: UsageQuery): Range {
  const { ms, days } = BUCKETS[bucket]
  const [start, end] = [new Date(from), new Date(to)]
  const length = end.getTime() - start.getTime()
  if (!(length > 0)) throw new AppError('invalid_argument', '"to" must be after "from"')
  if (length > days * 24 * HOUR_MS) throw new AppError('invalid_argument', `By the ${bucket} a range has at most ${days} days`)
  if (by === 'metadata' && metadataKey === undefined) throw new AppError('invalid_argument', 'by=metadata needs "metadataKey"')
  return { from: start, to: end, bucketMs: ms }
}

/** The sandboxes that were there in the range. */
function boxes(teamId: string, { from, to }: Range): RawBuilder<unknown> {
  return sql`
    select sandbox_id, sandbox.template_id, cpu_count, memory_mib, metadata, null::timestamptz as gone_at
    from sandbox join build using (build_id) where sandbox.team_id = ${teamId} and sandbox.created_at < ${to}
    union all
    (select sandbox_id, template_id, cpu_count, memory_mib, metadata, ended_at
    from sandbox_history where team_id = ${teamId} and ended_at > ${from} and created_at < ${to} order by ended_at desc limit ${MAX_SANDBOXES})`
}

/** The runs of those sandboxes, cut to the range. */
function runs(teamId: string, range: Range): RawBuilder<unknown> {
  return sql`
    box as materialized (${boxes(teamId, range)}), change as (
      select box.*, kind, created_at as began_at, lead(created_at) over (partition by sandbox_id order by event_id) as next_at
      from box join event on event.subject = box.sandbox_id
      where kind in ('sandbox.running', 'sandbox.resumed', 'sandbox.paused', 'sandbox.killing')
    ), run as (
      select * from (
        select sandbox_id, template_id, cpu_count, memory_mib, metadata, greatest(began_at, ${range.from}::timestamptz) as began_at,
          least(coalesce(next_at, gone_at, statement_timestamp()), ${range.to}::timestamptz) as ended_at
        from change where kind in ('sandbox.running', 'sandbox.resumed')
      ) as cut where ended_at > began_at
    )`
}

function selectRows(team: { readonly id: string; readonly name: string }, query: UsageQuery, range: Range): RawBuilder<StoredRow> {
  const [id, name] = groupOf(team, query)
  return sql<StoredRow>`
    with ${runs(team.id, range)}, used as (
      select ${id} as id, count(distinct sandbox_id)::int as sandboxes, sum(hours) as hours, sum(hours * cpu_count) as vcpu,
        sum(hours * memory_mib / 1024) as memory
      from (select *, extract(epoch from ended_at - began_at)::float8 / 3600 as hours from run) as found group by 1
    )
    select *, ${name} as name, (sum(sandboxes) over ())::int as total_sandboxes, sum(hours) over () as total_hours,
      sum(vcpu) over () as total_vcpu, sum(memory) over () as total_memory
    from used order by hours desc, id limit ${MAX_ROWS + 1}`
}

/** The id of the group of `found`, and its name by `used.id`. Empty: no key made it, or it has no such pair. */
function groupOf(team: { readonly id: string; readonly name: string }, { by, metadataKey = '' }: UsageQuery) {
  if (by === 'team') return [sql`${team.id}::text`, sql`${team.name}::text`] as const
  if (by === 'template') return [sql`found.template_id`, templateName(sql`used.id`)] as const
  if (by === 'metadata') return [sql`coalesce(found.metadata ->> ${metadataKey}::text, '')`, sql`used.id`] as const
  return [
    sql`coalesce((select data -> 'actor' ->> 'keyId' from event where subject = found.sandbox_id order by event_id limit 1), '')`,
    sql`coalesce((select api_key.name from api_key where api_key.id::text = used.id), case used.id when '' then 'without a key' else 'a deleted key' end)`,
  ] as const
}

/** A value for each bucket, in UTC, from the one that the range begins in. */
async function readSeries(db: Db, teamId: string, range: Range): Promise<Usage['series']> {
  const seconds = range.bucketMs / 1000
  const { rows } = await sql<{ bucket: number; hours: number; vcpu: number }>`
    with ${runs(teamId, range)}
    select bucket::float8 as bucket, sum(hours) as hours, sum(hours * cpu_count) as vcpu from (
      select bucket, cpu_count,
        (least(extract(epoch from ended_at), (bucket + 1) * ${seconds}::int) - greatest(extract(epoch from began_at), bucket * ${seconds}::int))::float8
          / 3600 as hours
      from run cross join lateral generate_series(
        floor(extract(epoch from began_at) / ${seconds}::int), floor(extract(epoch from ended_at) / ${seconds}::int)
      ) as bucket
    ) as part group by bucket
  `.execute(db)
  const used = new Map(rows.map(({ bucket, ...figures }) => [bucket, figures]))
  const first = Math.floor(range.from.getTime() / range.bucketMs)
  const count = Math.ceil(range.to.getTime() / range.bucketMs) - first
  return Array.from({ length: count }, (_, at) => {
    const { hours = 0, vcpu = 0 } = used.get(first + at) ?? {}
    return { at: new Date((first + at) * range.bucketMs).toISOString(), sandboxHours: hours, vcpuHours: vcpu }
  })
}

async function hasTooMany(db: Db, teamId: string, { from, to }: Range): Promise<boolean> {
  const { rows } = await sql<{ cut: boolean }>`
    select exists(
      select from sandbox_history where team_id = ${teamId} and ended_at > ${from} and created_at < ${to} order by ended_at desc offset ${MAX_SANDBOXES} limit 1
    ) as cut
  `.execute(db)
  return rows[0]?.cut === true
}
