import { sql } from 'kysely'
import type { Database, Db, Tx } from '@sandyard/db/database'
import type { PlacedEvent } from '../events/read-events.ts'
import { LIFECYCLE_KINDS } from '../sandboxes/events/lifecycle-events.ts'
import { describePlaced } from './describe-placed.ts'
import { storeDeliveries, type Amount } from './store-deliveries.ts'
import type { TeamRoom } from './team-room.ts'

/** Of one turn. */
const MOST = { teams: 4, events: 50 } as const

/** Teams whose events the reader leaves to `readLate`. */
export async function lateTeams(db: Db): Promise<Set<string>> {
  const rows = await db.selectFrom('webhook_late_team').select('team_id').execute()
  return new Set(rows.map(({ team_id }) => team_id))
}

/** Leaves events, in the order of their places, to `readLate`. The caller has locked the reader. */
export async function makeLate(tx: Tx, events: readonly PlacedEvent[]): Promise<void> {
  const firsts = new Map(events.toReversed().map(({ teamId, place }) => [teamId, place]))
  if (firsts.size === 0) return
  // An insert would wait for a turn of a team that is late already.
  await sql`
    insert into webhook_late_team (team_id, place)
    select team_id, first - 1 from unnest(${[...firsts.keys()]}::uuid[], ${[...firsts.values()]}::bigint[]) as given (team_id, first)
    where not exists (select from webhook_late_team as late where late.team_id = given.team_id)
    on conflict do nothing
  `.execute(tx)
}

/** Writes a batch for a few teams that are late. @returns whether there were any */
export async function readLate(database: Database, room: TeamRoom): Promise<boolean> {
  const { db } = database
  const teams = await db
    .selectFrom('webhook_late_team')
    .select('team_id')
    .orderBy(sql`random()`)
    .limit(MOST.teams)
    .execute()
  for (const { team_id } of teams) {
    const amounts = await database.transaction((tx) => readTeam(tx, team_id, room.batch))
    await room.add(db, amounts)
  }
  return teams.length > 0
}

/** @returns what was written: nothing when another server has the turn of the team, or when the team has caught up and is late no more */
async function readTeam(tx: Tx, teamId: string, most: Amount): Promise<ReadonlyMap<string, Amount>> {
  const late = await tx
    .selectFrom('webhook_late_team')
    .select('place')
    .where('team_id', '=', teamId)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  if (late === undefined) return new Map()
  const events = await eventsBehind(tx, teamId, late.place)
  const last = events.at(-1)
  if (last === undefined) {
    await endLate(tx, teamId, late.place)
    return new Map()
  }
  const described = await describePlaced(tx, events)
  const { events: done, amounts } = await storeDeliveries(tx, described, most)
  const place = (done < described.length ? described[done - 1]?.place : undefined) ?? last.place
  await tx.updateTable('webhook_late_team').set({ place }).where('team_id', '=', teamId).execute()
  return amounts
}

/** The next events of a team that the reader has passed; none without a webhook that was there before. */
async function eventsBehind(tx: Tx, teamId: string, place: number): Promise<{ eventId: number; place: number }[]> {
  const { rows } = await sql<{ eventId: number; place: number }>`
    select event_id as "eventId", place from event
    where team_id = ${teamId} and place > ${place} and place <= (select place from webhook_reader)
      and kind = any(${LIFECYCLE_KINDS}::text[])
      and created_at >= (select min(created_at) from webhook where webhook.team_id = ${teamId} and enabled)
    order by place limit ${MOST.events}
  `.execute(tx)
  return rows
}

/** While the reader is locked it passes no events. */
async function endLate(tx: Tx, teamId: string, place: number): Promise<void> {
  await tx.selectFrom('webhook_reader').select('place').forUpdate().execute()
  if ((await eventsBehind(tx, teamId, place)).length > 0) return
  await tx.deleteFrom('webhook_late_team').where('team_id', '=', teamId).execute()
}
