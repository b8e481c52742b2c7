import { sql } from 'kysely'
import type { Database } from '@sandyard/db/database'
import { FAILURES } from '../build-failure.ts'
import { settleBuild } from './settle-build.ts'

/** How long a registered build waits for its start (control-plane.md 3.3). */
const WAIT_MINUTES = 40
const BATCH = 50

/** Fails builds that were registered and never started. Several servers may do so at once. */
export async function expireWaiting(database: Database): Promise<void> {
  await database.transaction(async (tx) => {
    const stale = await tx
      .selectFrom('build')
      .select(['build_id', 'template_id'])
      .where('status', 'in', ['pending', 'waiting'])
      .where('created_at', '<', sql<Date>`clock_timestamp() - make_interval(mins => ${WAIT_MINUTES})`)
      .orderBy('created_at')
      .limit(BATCH)
      .forUpdate()
      .skipLocked()
      .execute()
    // Templates are changed in one order by everybody.
    stale.sort((a, b) => (a.template_id < b.template_id ? -1 : 1))
    for (const { build_id } of stale) await settleBuild(tx, build_id, { kind: 'failed', message: FAILURES.neverStarted })
  })
}
