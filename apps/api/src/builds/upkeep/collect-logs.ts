import { sql, type RawBuilder } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { inBatches } from '@sandyard/db/in-batches'
import { secondsAgo } from '@sandyard/db/statement-time'

/** A log has up to 100,000 lines, so a batch counts lines. */
const LINES = { size: 5000, most: 1000 }
/** Builds of one batch. */
const BUILDS = 200
const DAY_MS = 24 * 3_600_000
/** What the logs of the ended builds of a team may take, with `LINE_BYTES` for each line. */
const TEAM_BYTES = 1024 ** 3
/** A row and its place in the index. */
const LINE_BYTES = 100
const TEAM_BATCHES = { size: BUILDS, most: 100 }

export interface LogAges {
  /** Age of a log since the end of its build. */
  readonly logMs: number
  /** Age of the rows of deleted templates since the deletion. */
  readonly templateMs: number
}

/**
 * Removes the logs of builds that ended long ago, of builds whose template was deleted a day ago, because no request can read them, and the oldest ones of
 * teams whose logs take too much.
 */
export async function collectLogs(db: Db, { logMs, templateMs }: LogAges, signal?: AbortSignal): Promise<void> {
  await deleteLogs(db, sql`build.finished_at < ${secondsAgo(logMs / 1000)}`, signal)
  const deletedMs = Math.min(DAY_MS, templateMs)
  await deleteLogs(
    db,
    sql`build.finished_at is not null and build.template_id in (
      select template_id from template where deleted_at < ${secondsAgo(deletedMs / 1000)}
    )`,
    signal,
  )
  await capTeams(db, signal)
}

async function capTeams(db: Db, signal?: AbortSignal): Promise<void> {
  await inBatches({ ...TEAM_BATCHES, signal }, async (size) => {
    const { rows } = await sql<{ build_id: string }>`
      select build_id from (
        select build_id, finished_at, sum(log_bytes + log_count::bigint * ${LINE_BYTES}) over (
          partition by team_id order by finished_at desc, build_id desc rows unbounded preceding
        ) as bytes
        from build join template using (template_id) where log_count > 0 and finished_at is not null
      ) as ended
      where bytes > ${TEAM_BYTES} order by finished_at, build_id limit ${size}
    `.execute(db)
    const ids = rows.map(({ build_id }) => build_id)
    if (ids.length > 0) await deleteLogs(db, sql`build.build_id = any(${ids}::uuid[])`, signal)
    return ids.length
  })
}

/**
 * Removes the logs of the finished builds that meet a condition on `build`, in batches of lines. A log loses its newest lines first and
 * `log_count` follows, so its lines are numbered without gaps at any time.
 */
export async function deleteLogs(db: Db, condition: RawBuilder<unknown>, signal?: AbortSignal): Promise<void> {
  await inBatches({ ...LINES, signal }, async (size) => {
    const { rows } = await sql<{ builds: number; lines: number }>`
      with ended as (
        select build_id, finished_at, log_count from build where log_count > 0 and ${condition}
        order by finished_at, build_id limit ${BUILDS} for update skip locked
      ), counted as (
        select build_id, log_count, sum(log_count) over (order by finished_at, build_id) - log_count as before from ended
      ), shortened as (
        select build_id, log_count - kept as removed, kept
        from (select *, greatest(0, log_count - greatest(0, ${size} - before))::integer as kept from counted) as turn
        where kept < log_count
      ), forgotten as (
        delete from build_log using shortened where build_log.build_id = shortened.build_id and seq > kept
      ), written as (
        update build set log_count = kept, log_bytes = build.log_bytes * kept / build.log_count
        from shortened where build.build_id = shortened.build_id
      )
      select (select count(*) from ended) as builds, coalesce(sum(removed), 0) as lines from shortened
    `.execute(db)
    const { builds, lines } = rows[0] ?? { builds: 0, lines: 0 }
    return builds === BUILDS ? size : lines
  })
}
