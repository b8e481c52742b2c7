import { watchSandboxes } from '@sandyard/db/rows/watch-sandboxes'
import { runLoop } from '@sandyard/kit/lifecycle/run-loop'
import type { EgressContext } from './context.ts'
import type { DecisionRow } from './decisions/decision-log.ts'
import { writeDecisions } from './decisions/write-decisions.ts'

const WRITE_EVERY_MS = 3000
/** Two minutes. Rows that cannot be stored at all, as those of a deleted team, must not stop all others. */
const MAX_ATTEMPTS = 40

/** Follows the changes of sandboxes and stores decisions until disposed; the last decisions are stored then. */
export function startUpkeep(ctx: EgressContext): AsyncDisposable {
  const { source, sandboxes, tracker, log, database, decisions, limits } = ctx
  const watching = watchSandboxes({ name: 'egress', watch: (watcher) => source.watch(watcher), tracker, memories: [sandboxes], log })
  // Kept while the database is away: the next ones are joined up to their caps.
  let taken: readonly DecisionRow[] = []
  let attempts = 0
  const write = async (): Promise<void> => {
    if (taken.length === 0 || attempts >= MAX_ATTEMPTS) {
      taken = decisions.take()
      attempts = 0
    }
    attempts += 1
    if (taken.length > 0) await writeDecisions(database.db, taken, limits.maxSandboxDecisions)
    taken = []
  }
  const writing = runLoop({ name: 'egress-decisions', everyMs: WRITE_EVERY_MS, log }, write)
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all([watching[Symbol.asyncDispose](), writing.stop()])
      await write().catch((err: unknown) => log.warn({ err }, 'the last decisions were not stored'))
    },
  }
}
