import { sql, type RawBuilder } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { inBatches } from '@sandyard/db/in-batches'

/** A log may have 100,000 lines, so one statement handles few builds. */
const BATCHES = { size: 20, most: 1000 }

/** Removes the logs of builds that ended long ago, and of builds whose template was deleted a day ago: no request can read them. */
export async function collectLogs(db: Db, ageMs: number): Promise<void> {
  await collect(db, sql`build.finished_at < clock_timestamp() - make_interval(secs => ${ageMs / 1000})`)
  await collect(
    db,
    sql`build.finished_at is not null and build.template_id in (
      select template_id from template where deleted_at < clock_timestamp() - interval '1 day'
    )`,
  )
}

async function collect(db: Db, condition: RawBuilder<unknown>): Promise<void> {
  await inBatches(BATCHES, async (size) => {
    const { rows } = await sql<{ count: number }>`
      with ended as (
        select build_id from build where log_count > 0 and ${condition} order by finished_at, build_id limit ${size} for update skip locked
      ), forgotten as (
        delete from build_log where build_id in (select build_id from ended)
      ), emptied as (
        update build set log_count = 0 where build_id in (select build_id from ended)
      )
      select count(*) as count from ended
    `.execute(db)
    return rows[0]?.count ?? 0
  })
}
