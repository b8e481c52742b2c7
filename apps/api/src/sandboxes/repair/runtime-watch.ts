import { setTimeout as delay } from 'node:timers/promises'
import { within } from '@sandyard/kit/async/within'
import { ExitedSandboxes, type ExitParts } from './exited-sandboxes.ts'
import { reconcile } from './reconciler.ts'

const RESUBSCRIBE_MS = 1000
const SUBSCRIBE_TIMEOUT_MS = 30_000

/**
 * Follows the runtime's events until `signal` aborts: a sandbox that exits by itself is ended at once. Reconciles everything when events
 * may have been missed: at the start and after each break.
 */
export async function watchRuntime(parts: ExitParts, signal: AbortSignal): Promise<void> {
  const exited = new ExitedSandboxes(parts)
  while (!signal.aborted) {
    const subscription = new AbortController()
    const until = AbortSignal.any([signal, subscription.signal])
    let reconciling: Promise<void> | undefined
    try {
      const what = 'subscribing to the events of the engine'
      const events = await within({ what, timeoutMs: SUBSCRIBE_TIMEOUT_MS, signal }, () => parts.runtime.events(until))
      parts.endReasons.engineIsThere()
      // Events are read during the reconcile: they must not pile up while it runs.
      reconciling = reconcile(parts, signal).catch((err: unknown) => parts.log.warn({ err }, 'reconcile after a lost event stream failed'))
      for await (const event of events) if (event.kind === 'exited') exited.suspect(event)
    } catch (err) {
      if (!signal.aborted) parts.log.warn({ err }, 'runtime events ended unexpectedly')
    } finally {
      parts.endReasons.engineLeft()
      subscription.abort()
      await reconciling
    }
    await delay(RESUBSCRIBE_MS, undefined, { signal }).catch(() => undefined)
  }
  await exited.stop()
}
