import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { inBatches } from '@sandyard/db/in-batches'
import { secondsAgo } from '@sandyard/db/statement-time'

const BATCHES = { size: 1000, most: 100 }
/** Deliveries of a webhook that may wait. */
const MAX_PENDING = 10_000

/** Deletes ended deliveries that are older, with their attempts. Several servers may run it at once. */
export async function forgetDeliveries(db: Db, ageMs: number): Promise<void> {
  await inBatches(BATCHES, async (size) => {
    const { numAffectedRows } = await sql`
      delete from webhook_delivery where delivery_id = any(array(
        select delivery_id from webhook_delivery
        where status <> 'pending' and created_at < ${secondsAgo(ageMs / 1000)}
        order by created_at limit ${size} for update skip locked
      ))
    `.execute(db)
    return Number(numAffectedRows ?? 0n)
  })
}

/** Gives up the oldest deliveries of webhooks with too many that wait. */
export async function capPending(db: Db, most = MAX_PENDING): Promise<void> {
  await inBatches(BATCHES, async (size) => {
    const { numAffectedRows } = await sql`
      update webhook_delivery set status = 'dead' where delivery_id = any(array(
        select delivery_id from webhook_delivery where status = 'pending' and lease_until is null and delivery_id = any(array(
        select excess.delivery_id from webhook
        cross join lateral (
          select delivery_id from webhook_delivery as delivery
          where delivery.webhook_id = webhook.webhook_id and status = 'pending' and lease_until is null
          order by created_at desc, delivery_id desc offset ${most} limit ${size}
        ) as excess
        limit ${size}
        )) order by delivery_id for update skip locked
      ))
    `.execute(db)
    return Number(numAffectedRows ?? 0n)
  })
}
