import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'

const isIdle = sql<boolean>`(lease_until is null or lease_until <= clock_timestamp())`

/**
 * Gives up what a webhook that was just disabled has not sent. What is being sent ends as it ends. Rows that another server claims at this moment are left to
 * it: locks are taken in the order of the ids, so that no two of these statements wait for each other.
 */
export async function cancelDeliveries(db: Db, webhookId: string): Promise<void> {
  await sql`
    update webhook_delivery set status = 'dead', lease_until = null where delivery_id = any(array(
      select delivery_id from webhook_delivery where webhook_id = ${webhookId} and status = 'pending' and ${isIdle}
      order by delivery_id for update skip locked
    ))
  `.execute(db)
}

/** Gives up what servers that died were sending for webhooks that are disabled now. */
export async function cancelAbandoned(db: Db): Promise<void> {
  await sql`
    update webhook_delivery set status = 'dead', lease_until = null where delivery_id = any(array(
      select delivery_id from webhook_delivery join webhook using (webhook_id)
      where not webhook.enabled and webhook_delivery.status = 'pending' and ${isIdle}
      order by delivery_id for update of webhook_delivery skip locked
    ))
  `.execute(db)
}
