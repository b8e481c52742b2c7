import type { Database } from '@sandyard/db/database'
import { inBatches } from '@sandyard/db/in-batches'
import { secondsAgo } from '@sandyard/db/statement-time'
import { FAILURES } from '../build-failure.ts'
import { settleBuild } from './settle-build.ts'

/** How long a registered build waits for its start (control-plane.md 3.3). */
const WAIT_MINUTES = 40
const BATCH = 50

const TURNS = 100

/** Fails builds that were registered and never started. Several servers may do so at once. */
export async function expireWaiting(database: Database): Promise<void> {
  await inBatches({ size: BATCH, most: TURNS }, (size) => expireBatch(database, size))
}

function expireBatch(database: Database, size: number): Promise<number> {
  return database.transaction(async (tx) => {
    const stale = await tx
      .selectFrom('build')
      .select(['build_id', 'template_id'])
      .where('status', 'in', ['pending', 'waiting'])
      .where('created_at', '<', secondsAgo(WAIT_MINUTES * 60))
      .orderBy('created_at')
      .limit(size)
      .forUpdate()
      .skipLocked()
      .execute()
    // To avoid deadlocks, templates are always locked in the order of their ids.
    stale.sort((a, b) => (a.template_id < b.template_id ? -1 : 1))
    for (const { build_id } of stale) await settleBuild(tx, build_id, { kind: 'failed', message: FAILURES.neverStarted })
    return stale.length
  })
}
