import type { WebhookDelivery } from '@sandyard/api-contract/webhooks/webhook-delivery'
import type { Db } from '@sandyard/db/database'
import { isUuid } from '@sandyard/kit/ids/uuid'
import { AppError } from '@sandyard/kit/errors/app-error'
import { decodeCursor, encodeCursor, type Cursor, type Order } from '../http/cursor.ts'
import { listDeliveries, toWebhookDelivery, type DeliveryRequest } from './list-deliveries.ts'

const DEFAULT_LIMIT = 25

interface PageQuery extends Omit<DeliveryRequest, 'after' | 'limit' | 'isAscending'> {
  readonly cursor: string | undefined
  readonly limit: number | undefined
  readonly isAscending: boolean | undefined
}

/** @throws AppError `invalid_argument` for a cursor that this list did not give */
export async function pageOfDeliveries(
  db: Db,
  { cursor, limit = DEFAULT_LIMIT, isAscending = false, ...rest }: PageQuery,
): Promise<{ data: WebhookDelivery[]; nextCursor: string | null }> {
  const order = isAscending ? 'asc' : 'desc'
  const rows = await listDeliveries(db, {
    ...rest,
    after: cursor === undefined ? undefined : readCursor(cursor, order),
    limit,
    isAscending,
  })
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  const nextCursor = last === undefined ? null : encodeCursor({ time: last.created_at, id: last.delivery_id }, order)
  return { data: page.map(toWebhookDelivery), nextCursor }
}

function readCursor(text: string, order: Order): Cursor {
  const cursor = decodeCursor(text, order)
  if (!isUuid(cursor.id)) throw new AppError('invalid_argument', 'Invalid next token')
  return cursor
}
