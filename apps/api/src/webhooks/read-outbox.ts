import type { LifecycleType } from '@sandyard/api-contract/events/sandbox-event'
import type { Database, Db, Tx } from '@sandyard/db/database'
import { CHANNELS, notify } from '@sandyard/db/notify'
import { sql } from 'kysely'
import { readEvents, type PlacedEvent } from '../events/read-events.ts'
import { describeEvents, type DescribedEvent } from '../sandboxes/events/describe-events.ts'
import { toLifecycleEvent } from '../sandboxes/events/event-view.ts'
import { findLifecycleType } from '../sandboxes/events/lifecycle-events.ts'

const BATCH = 1000

/**
 * Writes a delivery for each webhook and event that it wants, once each and in the order of the events, and moves the place of the reader in the same
 * transaction: several servers may run it at once, and a server that dies leaves all of a batch or nothing.
 *
 * @returns whether there may be more events
 */
export async function readOutbox(database: Database): Promise<boolean> {
  const { db } = database
  if (await skipUnheard(db)) return false
  const place = await currentPlace(db)
  const events = await readEvents(database, { after: place, limit: BATCH })
  const last = events.at(-1)
  if (last === undefined) return false
  const described = await describeEvents(db, await wantedEvents(db, events))
  await database.transaction(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('webhook_reader')
      .set({ place: last.place })
      .where('place', '=', place)
      .executeTakeFirst()
    // Another server was first.
    if (numUpdatedRows === 0n) return
    if (await storeDeliveries(tx, described)) await notify(tx, CHANNELS.webhookDue, '')
  })
  return events.length === BATCH
}

/** The reader of an installation begins at the end of the events; with the first webhook, so that none of its events is missed. */
export async function ensureReader(db: Db): Promise<void> {
  await sql`insert into webhook_reader (place) select coalesce(max(place), 0) from event on conflict do nothing`.execute(db)
}

/** Where the reader is. */
async function currentPlace(db: Db): Promise<number> {
  const find = () => db.selectFrom('webhook_reader').select('place').executeTakeFirst()
  const found = await find()
  if (found !== undefined) return found.place
  await ensureReader(db)
  return (await find())?.place ?? 0
}

/** Without webhooks the reader moves to the end and reads nothing. A statement sees each event only together with the webhooks before it. */
async function skipUnheard(db: Db): Promise<boolean> {
  const { rows } = await sql<{ unheard: boolean }>`
    with heard as materialized (select exists (select from webhook where enabled) as is_heard),
      latest as materialized (select max(place) as place from event),
      moved as (update webhook_reader set place = latest.place from latest, heard where webhook_reader.place < latest.place and not is_heard)
    select not is_heard as unheard from heard
  `.execute(db)
  return rows[0]?.unheard === true
}

/** The lifecycle events of teams that have webhooks. */
async function wantedEvents(db: Db, events: readonly PlacedEvent[]): Promise<number[]> {
  const lifecycle = events.filter(({ kind }) => findLifecycleType(kind) !== undefined)
  const teams = [...new Set(lifecycle.map(({ teamId }) => teamId))]
  if (teams.length === 0) return []
  const rows = await db
    .selectFrom('webhook')
    .select('team_id')
    .distinct()
    .where('team_id', 'in', teams)
    .where('enabled', '=', true)
    .execute()
  const heard = new Set(rows.map(({ team_id }) => team_id))
  return lifecycle.filter(({ teamId }) => heard.has(teamId)).map(({ eventId }) => eventId)
}

/** Locks the webhooks, so that none is disabled at the same time. @returns whether there is something to send */
async function storeDeliveries(tx: Tx, events: readonly DescribedEvent[]): Promise<boolean> {
  // A sandbox that never ran has no lifecycle (control-plane.md 6.8).
  const started = events.filter(({ run }) => run > 0)
  const teams = [...new Set(started.map(({ teamId }) => teamId))]
  if (teams.length === 0) return false
  const webhooks = await tx
    .selectFrom('webhook')
    .select(['webhook_id', 'team_id', 'events', 'created_at'])
    .where('team_id', 'in', teams)
    .where('enabled', '=', true)
    .orderBy('webhook_id')
    .forShare()
    .execute()
  const rows = started.flatMap((event) => {
    const type = findLifecycleType(event.kind) as LifecycleType
    const listeners = webhooks.filter(({ team_id, events: wanted, created_at: since }) => {
      return team_id === event.teamId && wanted.includes(type) && event.at >= since
    })
    const body = listeners.length === 0 ? '' : JSON.stringify(toLifecycleEvent(event))
    return listeners.map(({ webhook_id }) => ({ webhook_id, event_id: event.eventId, event_type: type, body, created_at: event.at }))
  })
  for (let at = 0; at < rows.length; at += BATCH) {
    await tx
      .insertInto('webhook_delivery')
      .values(rows.slice(at, at + BATCH))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
  return rows.length > 0
}
