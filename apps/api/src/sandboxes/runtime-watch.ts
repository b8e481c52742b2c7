import { setTimeout as delay } from 'node:timers/promises'
import { endExited, reconcile, type ReconcilerParts } from './reconciler.ts'

const RESUBSCRIBE_MS = 1000

/**
 * Follows the runtime's events until `signal` aborts: a sandbox whose daemon ends is ended at once. Whenever events may have
 * been missed, at the start and after each break, everything is reconciled.
 */
export async function watchRuntime(parts: ReconcilerParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const events = await parts.runtime.events(signal)
      await reconcile(parts)
      for await (const event of events) if (event.kind === 'exited') await endExited(parts, event)
    } catch (err) {
      if (!signal.aborted) parts.log.warn({ err }, 'runtime events broke off')
    }
    await delay(RESUBSCRIBE_MS, undefined, { signal }).catch(() => undefined)
  }
}
