import type { Database } from '@sandyard/db/database'
import type { SandboxDetail } from '@sandyard/dashboard-contract/sandboxes'
import { sandboxNotFound } from '../../../sandboxes/sandbox-errors.ts'
import { readSandboxDetail } from '../../operations/sandboxes/read-rows.ts'
import { SharedTopic } from '../shared-topic.ts'
import type { MakeTopic } from '../topic-registry.ts'
import { parseSandboxId } from './topic-argument.ts'
import { wholeSource } from './whole-source.ts'

/** `sandbox:<id>` */
export function makeSandboxTopic(database: Database, retention: { readonly historyMs: number }): MakeTopic {
  return ({ teamId, argument, inTurn }) => {
    const sandboxId = parseSandboxId(argument)
    const source = wholeSource<SandboxDetail>({
      read: async () => {
        const found = await readSandboxDetail(database.db, teamId, sandboxId, retention)
        if (found === undefined) throw sandboxNotFound(sandboxId)
        return found
      },
      hears: (change) =>
        (change.kind === 'sandbox' && change.id === sandboxId) ||
        (change.kind === 'event' && change.teamId === teamId && change.id === sandboxId),
    })
    return new SharedTopic(source, inTurn)
  }
}
