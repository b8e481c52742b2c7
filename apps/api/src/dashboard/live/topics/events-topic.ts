import type { Database } from '@sandyard/db/database'
import type { Topics } from '@sandyard/dashboard-contract/live/topics'
import { viewActors, type StoredActor } from '../../operations/actor-views.ts'
import { GAP, SharedTopic, type TopicSource } from '../shared-topic.ts'
import type { MakeTopic } from '../topic-registry.ts'

type Whole = Topics['events']['snapshot']

const ROWS = 50

/** `events`: the newest ones of the team, oldest first. */
export function makeEventsTopic({ db }: Database): MakeTopic {
  return ({ teamId, inTurn }) => {
    const source: TopicSource<Whole, ReadonlySet<string>, Whole> = {
      read: async () => {
        const rows = await db
          .selectFrom('event')
          .select(['event_id', 'created_at', 'kind', 'subject', 'data'])
          .where('team_id', '=', teamId)
          .orderBy('event_id', 'desc')
          .limit(ROWS)
          .execute()
        const actors = rows.map(({ data }) => data['actor'] as StoredActor)
        const view = await viewActors(db, actors)
        const events = rows.map(({ event_id, created_at, kind, subject }, index) => ({
          id: String(event_id),
          at: created_at.toISOString(),
          kind,
          subject,
          text: kind.replace('.', ' ').replaceAll('_', ' '),
          actor: actors[index] === undefined ? null : view(actors[index]),
        }))
        return { events: events.toReversed() }
      },
      keep: ({ events }) => new Set(events.map(({ id }) => id)),
      changes: (kept, { events }) => {
        const fresh = events.filter(({ id }) => !kept.has(id))
        if (fresh.length === 0) return undefined
        return fresh.length === ROWS && kept.size > 0 ? GAP : { events: fresh }
      },
      hears: (change) => change.kind === 'event' && change.teamId === teamId,
    }
    return new SharedTopic(source, inTurn)
  }
}
