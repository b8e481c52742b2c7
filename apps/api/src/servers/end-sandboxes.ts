import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import { CHANNELS } from '@sandyard/db/notify'
import { tellOfEvent } from '../events/event-log.ts'
import type { EndReason } from '../sandboxes/end/end-sandbox.ts'

const BATCH = 500

/**
 * Hides every sandbox and stops its traffic, but for those whose ids are in `kept`, and forgets the warm pool. The reconciler then finishes the
 * ends; an engine that never had them has nothing to remove.
 *
 * @returns how many it ended
 */
export async function endSandboxes(tx: Tx, reason: EndReason, kept: readonly string[] = []): Promise<number> {
  await tx.deleteFrom('parked_sandbox').execute()
  let ended = 0
  while (true) {
    const { rows } = await sql<{ sandbox_id: string }>`
      with ended as (
        update sandbox set state = 'killing', state_changed_at = clock_timestamp(), end_reason = ${reason}
        where sandbox_id in (
          select sandbox_id from sandbox where state <> 'killing' and sandbox_id <> all(${kept}::text[])
          order by sandbox_id limit ${BATCH} for update
        )
        returning sandbox_id, incarnation, team_id
      ), logged as (
        insert into event (team_id, kind, subject, data)
        select team_id, 'sandbox.killing', sandbox_id, jsonb_build_object('incarnation', incarnation, 'reason', ${reason}::text) from ended
      )
      select sandbox_id, pg_notify(${CHANNELS.routeChanged}, sandbox_id), ${tellOfEvent('sandbox.killing', sql`sandbox_id`)} from ended
    `.execute(tx)
    ended += rows.length
    if (rows.length < BATCH) return ended
  }
}
