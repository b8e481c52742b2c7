import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'

const BATCH = 20

/** Forgets the logs of builds whose templates were deleted a day ago: nobody can ask for them. */
export async function collectLogs(db: Db): Promise<void> {
  const builds = await db
    .selectFrom('build')
    .innerJoin('template', 'template.template_id', 'build.template_id')
    .select('build.build_id')
    .where('build.log_count', '>', 0)
    .where('template.deleted_at', '<', sql<Date>`clock_timestamp() - interval '1 day'`)
    .where('build.finished_at', 'is not', null)
    .limit(BATCH)
    .execute()
  for (const { build_id } of builds) {
    await db
      .with('forgotten', (cte) => cte.deleteFrom('build_log').where('build_id', '=', build_id))
      .updateTable('build')
      .set({ log_count: 0 })
      .where('build_id', '=', build_id)
      .execute()
  }
}
