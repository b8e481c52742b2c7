import { sql } from 'kysely'
import type { Database, Tx } from '@sandyard/db/database'
import { cancelDeliveries } from './cancel-deliveries.ts'
import type { ClaimedDelivery } from './claim-deliveries.ts'
import type { AttemptOutcome } from './post-delivery.ts'

/** A webhook with so many deliveries given up one after another is disabled. */
const MAX_DEAD_IN_ROW = 20
const GONE = 410
/** Part by which a pause is longer or shorter, so that receivers are not called by all at once. */
const JITTER = 0.1

/** What became of an attempt, for the metrics. */
export type AttemptResult = 'delivered' | 'failed' | 'dead'

export interface EndedAttempt {
  readonly delivery: ClaimedDelivery
  readonly outcome: AttemptOutcome
  readonly at: Date
  readonly ms: number
}

type End = { readonly status: 'delivered' | 'dead' } | { readonly status: 'pending'; readonly pauseMs: number }

/**
 * Stores an attempt and what becomes of its delivery. Nothing happens when another server has taken the delivery over. The webhook is locked before its
 * deliveries, as everywhere.
 *
 * @returns undefined when nothing was stored, or the attempt was canceled
 */
export async function endAttempt(
  database: Database,
  attempt: EndedAttempt,
  retriesMs: readonly number[],
): Promise<AttemptResult | undefined> {
  const { delivery, outcome } = attempt
  const end = endOf(attempt, retriesMs)
  return database.transaction(async (tx) => {
    const webhook = await tx
      .selectFrom('webhook')
      .select(['dead_in_row', 'enabled'])
      .where('webhook_id', '=', delivery.webhookId)
      .forNoKeyUpdate()
      .executeTakeFirst()
    // It was deleted, or disabled while the attempt went on.
    if (webhook === undefined) return undefined
    const known: End = end.status === 'pending' && !webhook.enabled ? { status: 'dead' } : end
    if (!(await storeEnd(tx, attempt, known))) return undefined
    if (known.status === 'delivered') await setDeadInRow(tx, delivery.webhookId, 0)
    if (known.status === 'dead' && webhook.enabled) {
      const dead = webhook.dead_in_row + 1
      await setDeadInRow(tx, delivery.webhookId, dead)
      if (outcome.httpStatus === GONE) await disable(tx, delivery.webhookId, 'The receiver answered 410')
      else if (dead >= MAX_DEAD_IN_ROW) await disable(tx, delivery.webhookId, `${dead} deliveries one after another were given up`)
    }
    if (known.status !== 'pending') return known.status
    return outcome.errorClass === 'canceled' ? undefined : 'failed'
  })
}

function endOf({ delivery, outcome }: EndedAttempt, retriesMs: readonly number[]): End {
  if (outcome.errorClass === null) return { status: 'delivered' }
  // The server stops: another one sends it now.
  if (outcome.errorClass === 'canceled') return { status: 'pending', pauseMs: 0 }
  const pauseMs = retriesMs[delivery.tries - 1]
  if (pauseMs === undefined || outcome.httpStatus === GONE) return { status: 'dead' }
  return { status: 'pending', pauseMs: pauseMs * (1 + JITTER * (2 * Math.random() - 1)) }
}

async function storeEnd(tx: Tx, { delivery, outcome, at, ms }: EndedAttempt, end: End): Promise<boolean> {
  const isCanceled = outcome.errorClass === 'canceled'
  const { numUpdatedRows } = await tx
    .updateTable('webhook_delivery')
    .set({
      status: end.status,
      lease_until: null,
      ...(end.status === 'pending' && { due_at: sql<Date>`clock_timestamp() + make_interval(secs => ${end.pauseMs / 1000})` }),
      ...(isCanceled && { tries: delivery.tries - 1 }),
    })
    .where('delivery_id', '=', delivery.deliveryId)
    .where('attempts', '=', delivery.attempt)
    .where('lease_until', 'is not', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  const { httpStatus: http_status, errorClass: error_class } = outcome
  const { deliveryId: delivery_id, webhookId: webhook_id, attempt: number } = delivery
  await tx.insertInto('webhook_attempt').values({ delivery_id, webhook_id, number, at, ms, http_status, error_class }).execute()
  return true
}

async function setDeadInRow(tx: Tx, webhookId: string, count: number): Promise<void> {
  await tx
    .updateTable('webhook')
    .set({ dead_in_row: count })
    .where('webhook_id', '=', webhookId)
    .where('dead_in_row', '<>', count)
    .execute()
}

async function disable(tx: Tx, webhookId: string, reason: string): Promise<void> {
  await tx.updateTable('webhook').set({ enabled: false, disabled_reason: reason }).where('webhook_id', '=', webhookId).execute()
  await cancelDeliveries(tx, webhookId)
}
