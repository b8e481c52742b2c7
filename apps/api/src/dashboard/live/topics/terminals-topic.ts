import type { Database } from '@sandyard/db/database'
import type { Topics } from '@sandyard/dashboard-contract/live/topics'
import type { Terminals } from '../../terminals/terminals.ts'
import { SharedTopic } from '../shared-topic.ts'
import type { MakeTopic } from '../topic-registry.ts'
import { wholeSource } from './whole-source.ts'
import { assertSandboxOf, parseSandboxId } from './topic-argument.ts'

/** `terminals:<id>` */
export function makeTerminalsTopic(database: Database, terminals: Terminals): MakeTopic {
  return ({ teamId, argument, inTurn }) => {
    const sandboxId = parseSandboxId(argument)
    const source = wholeSource<Topics['terminals']['snapshot']>({
      read: async (signal) => {
        await assertSandboxOf(database, teamId, sandboxId)
        return { data: await terminals.list(teamId, sandboxId, signal) }
      },
      hears: (change) =>
        (change.kind === 'terminal' && change.id.split(':', 1)[0] === sandboxId) || (change.kind === 'sandbox' && change.id === sandboxId),
    })
    return new SharedTopic(source, inTurn)
  }
}
