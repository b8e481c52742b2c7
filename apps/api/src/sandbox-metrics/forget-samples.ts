import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { secondsAgo } from '@sandyard/db/statement-time'

const BATCH = 5000
/** The rest waits for the next turn. */
const MAX_BATCHES = 100

/**
 * Deletes samples that are older than their retention, of sandboxes whose end is older too. Samples of a sandbox that still exists are kept.
 * It passes over them once in a turn: each batch begins at the time where the batch before ended.
 */
export async function forgetSamples(db: Db, retentionMs: number): Promise<void> {
  let from = new Date(0)
  const before = secondsAgo(retentionMs / 1000)
  for (let turn = 0; turn < MAX_BATCHES; turn += 1) {
    const { rows } = await sql<{ count: number; last: Date | null }>`
      with gone as (
        delete from sandbox_metric where ctid = any(array(
          select ctid from sandbox_metric as old
          where sampled_at >= ${from} and sampled_at < ${before}
            and not exists (select from sandbox where sandbox.sandbox_id = old.sandbox_id)
            and not exists (
              select from sandbox_history as ended where ended.sandbox_id = old.sandbox_id and ended.ended_at >= ${before}
            )
          order by sampled_at limit ${BATCH} for update skip locked
        ))
        returning sampled_at
      )
      select count(*) as count, max(sampled_at) as last from gone
    `.execute(db)
    const { count = 0, last = null } = rows[0] ?? {}
    if (count < BATCH || last === null) return
    from = last
  }
}
