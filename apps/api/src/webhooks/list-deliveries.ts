import { sql } from 'kysely'
import type { DeliveryStatus, ErrorClass, WebhookDelivery } from '@sandyard/api-contract/webhooks/webhook-delivery'
import type { Db } from '@sandyard/db/database'
import type { Cursor } from '../http/cursor.ts'

export interface DeliveryRequest {
  readonly webhookId: string
  readonly after: Cursor | undefined
  readonly limit: number
  readonly isAscending: boolean
  /** RFC 3339, both inclusive. */
  readonly start?: string | undefined
  readonly end?: string | undefined
  readonly status?: DeliveryStatus | undefined
  readonly eventType?: string | undefined
}

interface AttemptRow {
  readonly number: number
  readonly at: string
  readonly ms: number
  readonly http_status: number | null
  readonly error_class: ErrorClass | null
}

export interface DeliveryRow {
  readonly delivery_id: string
  readonly event_id: number
  readonly event_type: string
  readonly status: DeliveryStatus
  readonly created_at: Date
  readonly due_at: Date
  readonly attempts: readonly AttemptRow[]
}

/** The last ones of a delivery that are shown. */
const MAX_ATTEMPTS = 50

/** A page of the deliveries of a webhook by the time of their events. Returns up to `limit + 1` rows; the extra row only shows that there are more. */
export async function listDeliveries(db: Db, request: DeliveryRequest): Promise<DeliveryRow[]> {
  const { webhookId, after, limit, isAscending, start, end, status, eventType } = request
  const [direction, beyond] = isAscending ? [sql`asc`, sql`>`] : [sql`desc`, sql`<`]
  const conditions = [
    sql`webhook_id = ${webhookId}`,
    ...(after === undefined ? [] : [sql`(created_at, delivery_id) ${beyond} (${after.time}::timestamptz, ${after.id}::uuid)`]),
    ...(start === undefined ? [] : [sql`created_at >= ${start}::timestamptz`]),
    ...(end === undefined ? [] : [sql`created_at <= ${end}::timestamptz`]),
    ...(status === undefined ? [] : [sql`status = ${sql.lit(status)}`]),
    ...(eventType === undefined ? [] : [sql`event_type = ${eventType}`]),
  ]
  const { rows } = await sql<DeliveryRow>`
    select delivery_id, event_id, event_type, status, created_at, due_at, coalesce(made.attempts, '[]') as attempts
    from (
      select * from webhook_delivery where ${sql.join(conditions, sql` and `)}
      order by created_at ${direction}, delivery_id ${direction} limit ${limit + 1}
    ) as delivery
    left join lateral (
      select json_agg(json_build_object('number', number, 'at', at, 'ms', ms, 'http_status', http_status, 'error_class', error_class)
        order by number) as attempts
      from (
        select * from webhook_attempt as attempt where attempt.delivery_id = delivery.delivery_id order by number desc limit ${MAX_ATTEMPTS}
      ) as last
    ) as made on true
    order by created_at ${direction}, delivery_id ${direction}
  `.execute(db)
  return rows
}

export function toWebhookDelivery(row: DeliveryRow): WebhookDelivery {
  return {
    deliveryId: row.delivery_id,
    eventId: String(row.event_id),
    eventType: row.event_type,
    status: row.status,
    createdAt: row.created_at.toISOString(),
    nextAttemptAt: row.status === 'pending' ? row.due_at.toISOString() : null,
    attempts: row.attempts.map(({ number, at, ms, http_status, error_class }) => {
      return { number, timestamp: new Date(at).toISOString(), durationMs: ms, httpStatus: http_status, errorClass: error_class }
    }),
  }
}
