import { runLoop } from '@sandyard/kit/lifecycle/run-loop'
import type { Logger } from '@sandyard/kit/logging/create-logger'

/** Receives changes; each call is cheap and must not throw. */
export interface SandboxWatcher {
  changed(sandboxId: string): void
  /** Changes may have been missed: at the start and after a lost connection. */
  refresh(): void
  /** Changes are missed until the next refresh. */
  lost(): void
}

/** A cache of data about sandboxes, which is dropped when they change. */
interface Memory {
  forget(sandboxId: string): void
  forgetAll(): void
  /** For a cache that must not be wrong even for a moment: whether changes are announced from now on. They are not at the start. */
  follow?(isFollowed: boolean): void
}

/** The open connections of sandboxes. */
interface Tracker {
  has(sandboxId: string): boolean
  /** Compares the connections with the rows, of the given sandboxes or of all. */
  recheck(sandboxIds?: readonly string[]): Promise<void>
}

export interface WatchParts {
  /** The process, in the names of loops. */
  readonly name: string
  /** Calls the watcher until disposed. */
  readonly watch: (watcher: SandboxWatcher) => AsyncDisposable
  readonly tracker: Tracker
  readonly memories: readonly Memory[]
  readonly log: Logger
}

/** How often open connections are compared with the rows, in case a notification was lost. */
const RECHECK_EVERY_MS = 5000

/**
 * Keeps the caches and the open connections consistent with the rows of sandboxes until disposed. When a sandbox changes, its cached data is
 * dropped at once and its connections are checked. When changes may have been missed, this is done for all sandboxes.
 */
export function watchSandboxes({ name, watch, tracker, memories, log }: WatchParts): AsyncDisposable {
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
  const watching = watch({
    changed: (sandboxId) => {
      for (const memory of memories) memory.forget(sandboxId)
      if (!tracker.has(sandboxId)) return
      changed.add(sandboxId)
      void recheckChanged()
    },
    refresh: () => {
      for (const memory of memories) {
        memory.follow?.(true)
        memory.forgetAll()
      }
      void recheck()
    },
    lost: () => {
      for (const memory of memories) memory.follow?.(false)
    },
  })
  const loop = runLoop({ name: `${name}-recheck`, everyMs: RECHECK_EVERY_MS, log }, () => tracker.recheck())
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all([watching[Symbol.asyncDispose](), loop.stop()])
    },
  }
}
