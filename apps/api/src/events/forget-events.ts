import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { inBatches } from '@sandyard/db/in-batches'
import { secondsAgo } from '@sandyard/db/statement-time'

const BATCHES = { size: 1000, most: 100 }

/**
 * Deletes older events, oldest first and in batches. Those of a sandbox stay while it lives and while the history keeps it. Several servers
 * may run it at once.
 */
export async function forgetEvents(db: Db, ageMs: number): Promise<void> {
  await inBatches(BATCHES, async (size) => {
    const { numAffectedRows } = await sql`
      delete from event where event_id = any(array(
        select event_id from event
        where created_at < ${secondsAgo(ageMs / 1000)}
          and not exists(select from sandbox where sandbox_id = event.subject)
          and not exists(select from sandbox_history where sandbox_id = event.subject)
        order by created_at limit ${size} for update skip locked
      ))
    `.execute(db)
    return Number(numAffectedRows ?? 0n)
  })
}
