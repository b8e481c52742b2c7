import { runLoop } from '@sandyard/kit/lifecycle/run-loop'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { ConnectionTracker } from './connection-tracker.ts'
import type { RouteSource } from './route.ts'

/** A cache of data about sandboxes, which is dropped when they change. */
interface Memory {
  forget(sandboxId: string): void
  forgetAll(): void
}

export interface WatchParts {
  readonly routes: RouteSource
  readonly tracker: ConnectionTracker
  readonly memories: readonly Memory[]
  readonly log: Logger
}

/** How often open connections are compared with the rows, in case a notification was lost. */
const RECHECK_EVERY_MS = 5000

/**
 * Keeps the caches and the open connections consistent with the routes until disposed. When a sandbox changes, its cached data is
 * dropped at once and its connections are checked. When changes may have been missed, this is done for all sandboxes.
 */
export function watchRoutes({ routes, tracker, memories, log }: WatchParts): AsyncDisposable {
  const recheck = async (sandboxIds?: readonly string[]): Promise<void> => {
    // The next run of the loop repeats a failed check.
    await tracker.recheck(sandboxIds).catch((err: unknown) => log.warn({ err }, 'open connections could not be checked'))
  }
  // Thousands of sandboxes may end in one second: those that change during a check share the next one.
  const changed = new Set<string>()
  let isChecking = false
  const recheckChanged = async (): Promise<void> => {
    if (isChecking) return
    isChecking = true
    while (changed.size > 0) {
      const sandboxIds = [...changed]
      changed.clear()
      await recheck(sandboxIds)
    }
    isChecking = false
  }
  const watch = routes.watch({
    changed: (sandboxId) => {
      for (const memory of memories) memory.forget(sandboxId)
      if (!tracker.has(sandboxId)) return
      changed.add(sandboxId)
      void recheckChanged()
    },
    refresh: () => {
      for (const memory of memories) memory.forgetAll()
      void recheck()
    },
  })
  const loop = runLoop({ name: 'proxy-recheck', everyMs: RECHECK_EVERY_MS, log }, () => tracker.recheck())
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all([watch[Symbol.asyncDispose](), loop.stop()])
    },
  }
}
