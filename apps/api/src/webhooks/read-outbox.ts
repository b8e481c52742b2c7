import type { Database, Db, Tx } from '@sandyard/db/database'
import { sql } from 'kysely'
import { readEvents, type PlacedEvent } from '../events/read-events.ts'
import type { DescribedEvent } from '../sandboxes/events/describe-events.ts'
import { findLifecycleType } from '../sandboxes/events/lifecycle-events.ts'
import { describePlaced } from './describe-placed.ts'
import { lateTeams, makeLate, readLate } from './late-teams.ts'
import { storeDeliveries, sum, type Amount } from './store-deliveries.ts'
import { isOver, TeamRoom } from './team-room.ts'

const READ = 1000
/** Events that are described at once: each may have 64 KiB of metadata. */
const DESCRIBED = 50

/**
 * Writes a delivery for each webhook and event that it wants, once each and in the order of the events. A transaction writes a batch and moves the place of
 * the reader: several servers may run it at once, and a server that dies leaves all of a batch or nothing. A team that has got a batch
 * or more is late: its further events are left to `readLate`, and those of other teams do not wait for them.
 *
 * @returns whether there may be more events
 */
export async function readOutbox(database: Database, room = new TeamRoom()): Promise<boolean> {
  const { db } = database
  if (await skipUnheard(db)) return false
  const place = await currentPlace(db)
  const events = await readEvents(database, { after: place, limit: READ })
  if (events.length > 0 && !(await readAll(database, { place, events, room }))) return false
  const isLate = await readLate(database, room)
  return isLate || events.length === READ
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

interface Reading {
  /** Before the events. */
  readonly place: number
  readonly events: readonly PlacedEvent[]
  readonly room: TeamRoom
}

/** @returns false when another server was first */
async function readAll(database: Database, { place: start, events, room }: Reading): Promise<boolean> {
  const { db } = database
  const heard = await heardEvents(db, events)
  const late = await lateTeams(db)
  const written = new Map<string, Amount>()
  let place = start
  for (const part of partsOf(events, heard)) {
    const described = await describePlaced(
      db,
      part.filter(({ eventId, teamId }) => heard.has(eventId) && !late.has(teamId)),
    )
    let rest = part
    while (rest.length > 0) {
      const wanted = described.filter((event) => event.place > place && !late.has(event.teamId))
      const left = rest.filter((event) => heard.has(event.eventId) && late.has(event.teamId))
      const batch = await readBatch(database, { place, end: rest.at(-1)?.place ?? place, wanted, left, most: room.batch })
      if (batch === undefined) return false
      place = batch.place
      rest = rest.filter((event) => event.place > batch.place)
      for (const [teamId, amount] of batch.amounts) {
        const all = sum(written.get(teamId), amount)
        written.set(teamId, all)
        if (isOver(all, room.batch)) late.add(teamId)
      }
      await room.add(db, batch.amounts)
    }
  }
  return true
}

interface Batch {
  /** Where the reader is, and where it is after all events. */
  readonly place: number
  readonly end: number
  readonly wanted: readonly (DescribedEvent & { readonly place: number })[]
  /** Those of teams that are late. */
  readonly left: readonly PlacedEvent[]
  readonly most: Amount
}

/** @returns the new place and what was written; undefined when another server was first */
async function readBatch(database: Database, { place, end, wanted, left, most }: Batch) {
  return database.transaction(async (tx) => {
    if (!(await lockReader(tx, place))) return undefined
    const { events: done, amounts } = await storeDeliveries(tx, wanted, most)
    const to = (done < wanted.length ? wanted[done - 1]?.place : undefined) ?? end
    await makeLate(
      tx,
      left.filter((event) => event.place <= to),
    )
    await tx.updateTable('webhook_reader').set({ place: to }).execute()
    return { place: to, amounts }
  })
}

/** @returns false when another server has moved it */
async function lockReader(tx: Tx, place: number): Promise<boolean> {
  const found = await tx.selectFrom('webhook_reader').select('place').where('place', '=', place).forUpdate().executeTakeFirst()
  return found !== undefined
}

/** The lifecycle events of teams that have webhooks. */
async function heardEvents(db: Db, events: readonly PlacedEvent[]): Promise<ReadonlySet<number>> {
  const lifecycle = events.filter(({ kind }) => findLifecycleType(kind) !== undefined)
  const teams = [...new Set(lifecycle.map(({ teamId }) => teamId))]
  if (teams.length === 0) return new Set()
  const rows = await db
    .selectFrom('webhook')
    .select('team_id')
    .distinct()
    .where('team_id', 'in', teams)
    .where('enabled', '=', true)
    .execute()
  const heard = new Set(rows.map(({ team_id }) => team_id))
  return new Set(lifecycle.filter(({ teamId }) => heard.has(teamId)).map(({ eventId }) => eventId))
}

/** Parts with few events that are heard. */
function* partsOf(events: readonly PlacedEvent[], heard: ReadonlySet<number>): Generator<readonly PlacedEvent[]> {
  let part: PlacedEvent[] = []
  let count = 0
  for (const event of events) {
    if (heard.has(event.eventId) && count === DESCRIBED) {
      yield part
      part = []
      count = 0
    }
    if (heard.has(event.eventId)) count += 1
    part.push(event)
  }
  yield part
}
