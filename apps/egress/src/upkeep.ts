import { watchSandboxes } from '@sandyard/db/rows/watch-sandboxes'
import { runLoop } from '@sandyard/kit/lifecycle/run-loop'
import type { EgressContext } from './context.ts'
import { writeDecisions } from './decisions/write-decisions.ts'

const WRITE_EVERY_MS = 3000

/** Follows the changes of sandboxes and stores decisions until disposed; the last decisions are stored then. */
export function startUpkeep(ctx: EgressContext): AsyncDisposable {
  const { source, sandboxes, tracker, log, database, decisions, limits } = ctx
  const watching = watchSandboxes({ name: 'egress', watch: (watcher) => source.watch(watcher), tracker, memories: [sandboxes], log })
  const write = async (): Promise<void> => {
    const rows = decisions.take()
    if (rows.length > 0) await writeDecisions(database.db, rows, limits.maxSandboxDecisions)
  }
  const writing = runLoop({ name: 'egress-decisions', everyMs: WRITE_EVERY_MS, log }, write)
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all([watching[Symbol.asyncDispose](), writing.stop()])
      await write().catch((err: unknown) => log.warn({ err }, 'the last decisions were not stored'))
    },
  }
}
