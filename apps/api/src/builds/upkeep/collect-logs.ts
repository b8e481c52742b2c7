import { sql, type RawBuilder } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { inBatches } from '@sandyard/db/in-batches'
import { secondsAgo } from '@sandyard/db/statement-time'

/** A log has up to 100,000 lines, so a batch counts lines. */
const LINES = { size: 5000, most: 1000 }
/** Builds of one batch. */
const BUILDS = 200
const DAY_MS = 24 * 3_600_000

export interface LogAges {
  /** Age of a log since the end of its build. */
  readonly logMs: number
  /** Age of the rows of deleted templates since the deletion. */
  readonly templateMs: number
}

/** Removes the logs of builds that ended long ago, and of builds whose template was deleted a day ago: no request can read them. */
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
        update build set log_count = kept from shortened where build.build_id = shortened.build_id
      )
      select (select count(*) from ended) as builds, coalesce(sum(removed), 0) as lines from shortened
    `.execute(db)
    const { builds, lines } = rows[0] ?? { builds: 0, lines: 0 }
    return builds === BUILDS ? size : lines
  })
}
