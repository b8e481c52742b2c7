import { runLoop } from '@sandyard/kit/lifecycle/run-loop'
import type { ProxyContext } from '../context.ts'

/** How often open connections are compared with the rows, for the case that a notification got lost on the way. */
const RECHECK_EVERY_MS = 5000

/**
 * Keeps the catalog and the open connections true to the routes until disposed: a change is forgotten at once and its
 * connections are checked; whenever changes may have been missed, everything is.
 */
export function watchRoutes({ catalog, tracker, agents, tokens, routes, log }: ProxyContext): AsyncDisposable {
  const recheck = (sandboxIds?: readonly string[]): void => {
    // What this misses, the next round of the loop finds.
    tracker.recheck(sandboxIds).catch((err: unknown) => log.routes.warn({ err }, 'open connections could not be checked'))
  }
  const watch = routes.watch({
    changed: (sandboxId) => {
      catalog.forget(sandboxId)
      agents.forget(sandboxId)
      tokens.forget(sandboxId)
      recheck([sandboxId])
    },
    refresh: () => {
      catalog.forgetAll()
      agents.forgetAll()
      tokens.forgetAll()
      recheck()
    },
  })
  const loop = runLoop({ name: 'proxy-recheck', everyMs: RECHECK_EVERY_MS, log: log.routes }, () => tracker.recheck())
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all([watch[Symbol.asyncDispose](), loop.stop()])
    },
  }
}
