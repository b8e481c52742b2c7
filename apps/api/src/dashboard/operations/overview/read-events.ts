import type { EventView } from '@sandyard/dashboard-contract/overview'
import type { Db } from '@sandyard/db/database'
import { viewActors, type StoredActor } from '../actor-views.ts'

/** The newest events of a team, newest first. */
export async function readNewestEvents(db: Db, teamId: string, limit: number): Promise<EventView[]> {
  const rows = await db
    .selectFrom('event')
    .select(['event_id', 'created_at', 'kind', 'subject', 'data'])
    .where('team_id', '=', teamId)
    .orderBy('event_id', 'desc')
    .limit(limit)
    .execute()
  const actors = rows.map(({ data }) => data['actor'] as StoredActor)
  const view = await viewActors(db, actors)
  return rows.map(({ event_id, created_at, kind, subject }, index) => ({
    id: String(event_id),
    at: created_at.toISOString(),
    kind,
    subject,
    text: kind.replace('.', ' ').replaceAll('_', ' '),
    actor: actors[index] === undefined ? null : view(actors[index]),
  }))
}
