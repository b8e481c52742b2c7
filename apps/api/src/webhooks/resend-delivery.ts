import { MOST_ATTEMPTS } from '@sandyard/api-contract/webhooks/most-attempts'
import { isUuid } from '@sandyard/kit/ids/uuid'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Tx } from '@sandyard/db/database'
import { CHANNELS, notify } from '@sandyard/db/notify'
import { sql } from 'kysely'
import { deliveryNotFound } from './webhook-errors.ts'
import { getWebhook } from './webhook-queries.ts'

/**
 * Makes a delivery due now, with all repeats again. One that is in flight is left as it is. Each attempt is a row, so a delivery that has had many of them is
 * refused.
 *
 * @throws AppError `not_found`; `conflict` for a webhook that is disabled, and for a delivery that has had its attempts
 */
export async function resendDelivery(tx: Tx, ids: { teamId: string; webhookId: string; deliveryId: string }): Promise<void> {
  const { teamId, webhookId, deliveryId } = ids
  await getWebhook(tx, teamId, webhookId)
  const locked = tx.selectFrom('webhook').select('enabled').where('webhook_id', '=', webhookId).forShare()
  if ((await locked.executeTakeFirst())?.enabled !== true) {
    throw new AppError('conflict', 'The webhook is disabled: enable it before you send a delivery again')
  }
  if (!isUuid(deliveryId)) throw deliveryNotFound(deliveryId)
  const { rows } = await sql<{ attempts: number; leased: boolean }>`
    select attempts, lease_until is not null and lease_until > clock_timestamp() as leased from webhook_delivery
    where delivery_id = ${deliveryId} and webhook_id = ${webhookId} for update
  `.execute(tx)
  const [found] = rows
  if (found === undefined) throw deliveryNotFound(deliveryId)
  if (found.leased) return
  if (found.attempts >= MOST_ATTEMPTS) {
    throw new AppError('conflict', `The delivery has had ${found.attempts} attempts: one with ${MOST_ATTEMPTS} or more is not sent again`)
  }
  await tx
    .updateTable('webhook_delivery')
    .set({ status: 'pending', tries: 0, due_at: sql<Date>`clock_timestamp()`, lease_until: null })
    .where('delivery_id', '=', deliveryId)
    .execute()
  await notify(tx, CHANNELS.webhookDue, '')
}
