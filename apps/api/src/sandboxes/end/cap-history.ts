import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { inBatches, type Batches } from '@sandyard/db/in-batches'
import { isReadByWebhooks } from '../../events/cap-events.ts'

export interface HistoryCap {
  readonly teamId: string
  /** The newest ended sandboxes that stay. */
  readonly kept: number
}

/**
 * Deletes the oldest ended sandboxes of a team beyond a cap from the history, with their events: a team can create and kill in a loop for as long as the
 * retention lasts. Those with events that webhooks wait for stay until these were read, or for a day. Several servers may run it at once.
 *
 * @param batches - `size` sandboxes in a batch
 * @returns the number of deleted sandboxes
 */
export async function capHistory(db: Db, { teamId, kept }: HistoryCap, batches: Batches): Promise<number> {
  const { rows } = await sql<{ ended_at: Date }>`
    select ended_at from sandbox_history where team_id = ${teamId} order by ended_at desc, sandbox_id offset ${kept} limit 1
  `.execute(db)
  const [newest] = rows
  if (newest === undefined) return 0
  return inBatches(batches, async (size) => {
    const { rows: counts } = await sql<{ count: number }>`
      with old as materialized (
        select sandbox_id from sandbox_history where team_id = ${teamId} and ended_at <= ${newest.ended_at}
          and not exists (select from event where subject = sandbox_id and ${isReadByWebhooks} is not true)
        order by ended_at limit ${size} for update skip locked
      ), gone as (
        delete from sandbox_history using old where sandbox_history.sandbox_id = old.sandbox_id returning old.sandbox_id
      ), forgotten as (
        delete from event using old where event.subject = old.sandbox_id
      )
      select count(*) as count from gone
    `.execute(db)
    return counts[0]?.count ?? 0
  })
}
