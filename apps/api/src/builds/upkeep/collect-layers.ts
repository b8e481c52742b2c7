import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'

/** Forgets layers that no build has asked for in that time. A build that asks at this moment keeps its layer or never sees it. */
export async function collectLayers(db: Db, unusedMs: number): Promise<void> {
  await db
    .deleteFrom('build_layer')
    .where('last_used_at', '<', sql<Date>`clock_timestamp() - make_interval(secs => ${unusedMs / 1000})`)
    .execute()
}
