import { sql } from 'kysely'
import type { Database } from '@sandyard/db/database'

/** An event with its position in the log. */
export interface PlacedEvent {
  readonly place: number
  readonly eventId: number
  readonly teamId: string
  readonly kind: string
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
  readonly at: Date
}

export interface EventRange {
  /** Start from 0. */
  readonly after: number
  readonly limit?: number
  /** Only the events of this object. */
  readonly subject?: string
}

/** Arbitrary, but the same in every release. */
const PLACES_LOCK_KEY = 5_417_905
const MAX_EVENTS = 1000

/**
 * The next events after a position, at most 1000. A reader that continues from its last position misses nothing: positions are assigned
 * only to committed events, by one transaction at a time, so they only grow. Readers of all events and of one object share the positions.
 */
export async function readEvents(database: Database, { after, limit = MAX_EVENTS, subject }: EventRange): Promise<PlacedEvent[]> {
  const most = Math.min(limit, MAX_EVENTS)
  await givePlaces(database, subject)
  let query = database.db
    .selectFrom('event')
    .select(['place', 'event_id', 'team_id', 'kind', 'subject', 'data', 'created_at'])
    .where('place', '>', after)
    .orderBy('place')
    .limit(most)
  if (subject !== undefined) query = query.where('subject', '=', subject)
  const rows = await query.$narrowType<{ place: number }>().execute()
  return rows.map(({ place, event_id, team_id, kind, subject, data, created_at }) => {
    return { place, eventId: event_id, teamId: team_id, kind, subject, data, at: created_at }
  })
}

/**
 * Gives positions to the oldest events without one. The lock is released only after the positions of its holder are visible. Without such
 * events nothing is locked.
 */
async function givePlaces(database: Database, subject: string | undefined): Promise<void> {
  const isAsked = subject === undefined ? sql`true` : sql`subject = ${subject}`
  const next = sql`select event_id from event where place is null and ${isAsked} order by event_id limit ${MAX_EVENTS}`
  const { rows } = await sql<{ found: boolean }>`select exists(${next}) as found`.execute(database.db)
  if (rows[0]?.found !== true) return
  await database.transaction(async (tx) => {
    await sql`select pg_advisory_xact_lock(${PLACES_LOCK_KEY})`.execute(tx)
    await sql`
      update event set place = given.place
      from (select event_id, nextval('event_place') as place from (${next}) as next) as given
      where event.event_id = given.event_id
    `.execute(tx)
  })
}
