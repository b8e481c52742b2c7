import type { Database } from '@sandyard/db/database'
import type { Topics } from '@sandyard/dashboard-contract/live/topics'
import { readEgress } from '../../relay/network/read-egress.ts'
import { SharedTopic, type TopicSource } from '../shared-topic.ts'
import type { MakeTopic } from '../topic-registry.ts'
import { assertSandboxOf, parseSandboxId } from './topic-argument.ts'

type Whole = Topics['egress']['snapshot']
/** The connections that were counted, by id: a row grows when the same decision is made again. */
type Kept = ReadonlyMap<string, number>

const ROWS = 100
/** The gateway stores its decisions without a notification. */
const EVERY_MS = 2000

/** `egress:<id>` */
export function makeEgressTopic(database: Database): MakeTopic {
  return ({ teamId, argument, inTurn }) => {
    const sandboxId = parseSandboxId(argument)
    const source: TopicSource<Whole, Kept, Whole> = {
      everyMs: EVERY_MS,
      read: async () => {
        await assertSandboxOf(database, teamId, sandboxId)
        return { decisions: await readEgress(database.db, { teamId, sandboxId, limit: ROWS }) }
      },
      keep: ({ decisions }) => new Map(decisions.map(({ id, connections }) => [id, connections])),
      changes: (kept, { decisions }) => {
        const fresh = decisions.filter(({ id, connections }) => kept.get(id) !== connections)
        return fresh.length === 0 ? undefined : { decisions: fresh }
      },
      hears: () => false,
    }
    return new SharedTopic(source, inTurn)
  }
}
