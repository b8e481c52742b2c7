import { sql } from 'kysely'
import type { Database } from '@sandyard/db/database'

/** An event with its position in the log. */
export interface PlacedEvent {
  readonly place: number
  readonly teamId: string
  readonly kind: string
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
  readonly at: Date
}

/** Arbitrary, but the same in every release. */
const PLACES_LOCK_KEY = 5_417_905
const MAX_EVENTS = 1000

/**
 * The next events after a position, at most 1000. Start from 0. A reader that continues from its last position misses nothing: positions
 * are assigned only to committed events, by one transaction at a time, so they only grow.
 */
export async function readEvents(database: Database, after: number, limit: number = MAX_EVENTS): Promise<PlacedEvent[]> {
  const most = Math.min(limit, MAX_EVENTS)
  await givePlaces(database, most)
  const rows = await database.db
    .selectFrom('event')
    .select(['place', 'team_id', 'kind', 'subject', 'data', 'created_at'])
    .where('place', '>', after)
    .orderBy('place')
    .limit(most)
    .$narrowType<{ place: number }>()
    .execute()
  return rows.map(({ place, team_id, kind, subject, data, created_at }) => {
    return { place, teamId: team_id, kind, subject, data, at: created_at }
  })
}

/** The lock is released only after the positions of its holder are visible. */
async function givePlaces(database: Database, most: number): Promise<void> {
  await database.transaction(async (tx) => {
    await sql`select pg_advisory_xact_lock(${PLACES_LOCK_KEY})`.execute(tx)
    await sql`
      update event set place = given.place
      from (
        select event_id, nextval('event_place') as place
        from (select event_id from event where place is null order by event_id limit ${most}) as next
      ) as given
      where event.event_id = given.event_id
    `.execute(tx)
  })
}
