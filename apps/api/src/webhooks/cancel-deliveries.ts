import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'

const isIdle = sql<boolean>`(lease_until is null or lease_until <= clock_timestamp())`

/** Gives up what a webhook that was just disabled has not sent. What is being sent ends as it ends. */
export async function cancelDeliveries(db: Db, webhookId: string): Promise<void> {
  const pending = db.updateTable('webhook_delivery').set({ status: 'dead', lease_until: null }).where('status', '=', 'pending')
  await pending.where('webhook_id', '=', webhookId).where(isIdle).execute()
}

/** Gives up what servers that died were sending for webhooks that are disabled now. */
export async function cancelAbandoned(db: Db): Promise<void> {
  await sql`
    update webhook_delivery set status = 'dead', lease_until = null from webhook
    where webhook.webhook_id = webhook_delivery.webhook_id and not webhook.enabled and webhook_delivery.status = 'pending' and ${isIdle}
  `.execute(db)
}
