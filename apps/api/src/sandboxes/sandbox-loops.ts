import { runLoop } from '@sandyard/kit/lifecycle/run-loop'
import type { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import { ExpiryReaper, REAP_EVERY_MS } from './expiry-reaper.ts'
import { reconcile, RECONCILE_EVERY_MS } from './reconciler.ts'
import { watchRuntime, type WatchParts } from './runtime-watch.ts'

/** Starts what expires and repairs sandboxes; `shutdown` stops it. */
export function startSandboxLoops(parts: WatchParts, shutdown: Shutdown): void {
  const { log } = parts
  const watching = new AbortController()
  const watched = watchRuntime(parts, watching.signal)
  shutdown.add('runtime watch', async () => {
    watching.abort()
    await watched
  })

  const reconciling = runLoop({ name: 'reconciler', everyMs: RECONCILE_EVERY_MS, log }, () => reconcile(parts))
  shutdown.add('reconciler', () => reconciling.stop())

  const reaper = new ExpiryReaper(parts)
  const reaping = runLoop({ name: 'expiry reaper', everyMs: REAP_EVERY_MS, log }, () => reaper.reap())
  shutdown.add('expiry reaper', async () => {
    await reaping.stop()
    await reaper.drain()
  })
}
