import type { LifecycleType } from '@sandyard/api-contract/events/sandbox-event'
import type { Tx } from '@sandyard/db/database'
import { CHANNELS, notify } from '@sandyard/db/notify'
import type { DescribedEvent } from '../sandboxes/events/describe-events.ts'
import { toLifecycleEvent } from '../sandboxes/events/event-view.ts'
import { findLifecycleType } from '../sandboxes/events/lifecycle-events.ts'

/** Deliveries, and the bytes of their bodies. */
export interface Amount {
  readonly rows: number
  readonly bytes: number
}

export interface Stored {
  /** How many of the events are done, from the first on; at least one. */
  readonly events: number
  /** What was written, by team. */
  readonly amounts: ReadonlyMap<string, Amount>
}

interface NewDelivery {
  readonly webhook_id: string
  readonly event_id: number
  readonly event_type: string
  readonly body: string
  readonly created_at: Date
}

/** Of one statement, or one delivery that is larger. */
const STATEMENT_BYTES = 1024 ** 2
const NOTHING: Amount = { rows: 0, bytes: 0 }

/**
 * Writes a delivery for each event and webhook that wants it, until the next event would make them more than `most`: then the caller commits and goes on.
 * Locks the webhooks, so that none is disabled at the same time.
 */
export async function storeDeliveries(tx: Tx, events: readonly DescribedEvent[], most: Amount): Promise<Stored> {
  const webhooks = await lockWebhooks(tx, events)
  const amounts = new Map<string, Amount>()
  const rows: NewDelivery[] = []
  let [bytes, done] = [0, 0]
  for (const event of events) {
    const made = deliveriesOf(event, webhooks)
    const size = made.length * Buffer.byteLength(made[0]?.body ?? '')
    if (rows.length > 0 && (rows.length + made.length > most.rows || bytes + size > most.bytes)) break
    rows.push(...made)
    bytes += size
    done += 1
    if (made.length > 0) amounts.set(event.teamId, sum(amounts.get(event.teamId), { rows: made.length, bytes: size }))
  }
  for (const values of statementsOf(rows)) {
    await tx
      .insertInto('webhook_delivery')
      .values(values)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
  if (rows.length > 0) await notify(tx, CHANNELS.webhookDue, '')
  return { events: done, amounts }
}

export function sum(one: Amount = NOTHING, other: Amount = NOTHING): Amount {
  return { rows: one.rows + other.rows, bytes: one.bytes + other.bytes }
}

type Listener = Awaited<ReturnType<typeof lockWebhooks>>[number]

async function lockWebhooks(tx: Tx, events: readonly DescribedEvent[]) {
  const teams = [...new Set(events.map(({ teamId }) => teamId))]
  if (teams.length === 0) return []
  return tx
    .selectFrom('webhook')
    .select(['webhook_id', 'team_id', 'events', 'created_at'])
    .where('team_id', 'in', teams)
    .where('enabled', '=', true)
    .orderBy('webhook_id')
    .forShare()
    .execute()
}

/** All have the same body. */
function deliveriesOf(event: DescribedEvent, webhooks: readonly Listener[]): NewDelivery[] {
  // A sandbox that never ran has no lifecycle (control-plane.md 6.8).
  if (event.run === 0) return []
  const type = findLifecycleType(event.kind) as LifecycleType
  const listeners = webhooks.filter(({ team_id, events: wanted, created_at: since }) => {
    return team_id === event.teamId && wanted.includes(type) && event.at >= since
  })
  if (listeners.length === 0) return []
  const body = JSON.stringify(toLifecycleEvent(event))
  return listeners.map(({ webhook_id }) => ({ webhook_id, event_id: event.eventId, event_type: type, body, created_at: event.at }))
}

function* statementsOf(rows: readonly NewDelivery[]): Generator<NewDelivery[]> {
  let values: NewDelivery[] = []
  let bytes = 0
  for (const row of rows) {
    const size = Buffer.byteLength(row.body)
    if (values.length > 0 && bytes + size > STATEMENT_BYTES) {
      yield values
      values = []
      bytes = 0
    }
    values.push(row)
    bytes += size
  }
  if (values.length > 0) yield values
}
