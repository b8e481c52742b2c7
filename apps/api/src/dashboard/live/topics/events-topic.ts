import type { Database } from '@sandyard/db/database'
import type { Topics } from '@sandyard/dashboard-contract/live/topics'
import { readLastEvents } from '../../operations/overview/read-overview.ts'
import { GAP, SharedTopic, type TopicSource } from '../shared-topic.ts'
import type { MakeTopic } from '../topic-registry.ts'

type Whole = Topics['events']['snapshot']

const ROWS = 50

/** `events`: the newest ones of the team, oldest first. */
export function makeEventsTopic({ db }: Database): MakeTopic {
  return ({ teamId, inTurn }) => {
    const source: TopicSource<Whole, ReadonlySet<string>, Whole> = {
      read: async () => ({ events: (await readLastEvents(db, teamId, ROWS)).toReversed() }),
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
