import { storeHostAddresses } from '@sandyard/db/host-addresses'
import { watchSandboxes } from '@sandyard/db/rows/watch-sandboxes'
import { runLoop } from '@sandyard/kit/lifecycle/run-loop'
import type { EgressContext } from './context.ts'
import type { DecisionRow } from './decisions/decision-log.ts'
import { writeDecisions } from './decisions/write-decisions.ts'
import { hostAddresses } from './policy/host-addresses.ts'

const WRITE_EVERY_MS = 3000
/** As often as the runtime does for the packet rules. */
const LOOKUP_EVERY_MS = 60_000
/** As often as the API reads them. */
const TELL_EVERY_MS = 10_000
/** Two minutes. Rows that cannot be stored at all must not stop all others. */
const MAX_ATTEMPTS = 40

/** Follows the changes of sandboxes and of the company's proxy, tells the addresses of the host, and stores decisions until disposed; the last decisions are stored then. */
export async function startUpkeep(ctx: EgressContext): Promise<AsyncDisposable> {
  const { companyProxy, secrets, source, sandboxes, tracker, log, database, decisions, limits } = ctx
  // Before connections are served. A failure is logged by the loop.
  await companyProxy.refresh().catch(() => undefined)
  const watching = watchSandboxes({
    name: 'egress',
    watch: (watcher) => source.watch(watcher, (teamId) => secrets.changed(teamId)),
    tracker,
    memories: [sandboxes, secrets],
    log,
  })
  // Kept while the database is away: the next ones are joined up to their caps.
  let taken: readonly DecisionRow[] = []
  let attempts = 0
  const store = (rows: readonly DecisionRow[]): Promise<void> => writeDecisions(database.db, rows, limits.maxSandboxDecisions)
  const write = async (): Promise<void> => {
    if (taken.length === 0 || attempts >= MAX_ATTEMPTS) {
      taken = decisions.take()
      attempts = 0
    }
    attempts += 1
    await store(taken)
    taken = []
  }
  const writing = runLoop({ name: 'egress-decisions', everyMs: WRITE_EVERY_MS, log }, write)
  const lookups = runLoop({ name: 'egress-company-proxy', everyMs: LOOKUP_EVERY_MS, log }, () => companyProxy.refresh())
  const telling = runLoop({ name: 'egress-host-addresses', everyMs: TELL_EVERY_MS, log }, () =>
    storeHostAddresses(database.db, hostAddresses()),
  )
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all([watching[Symbol.asyncDispose](), writing.stop(), lookups.stop(), telling.stop()])
      // A failed write may have left older ones than those of the log.
      const left = [taken, decisions.take()]
      taken = []
      for (const rows of left) {
        await store(rows).catch((err: unknown) => log.warn({ err }, 'the last decisions were not stored'))
      }
    },
  }
}
