import { setTimeout as delay } from 'node:timers/promises'
import { endExited, reconcile, type ReconcilerParts } from './reconciler.ts'
import type { StartsUnderWay } from './starts-under-way.ts'

export interface WatchParts extends ReconcilerParts {
  readonly starts: StartsUnderWay
}

const RESUBSCRIBE_MS = 1000

/**
 * Follows the runtime's events until `signal` aborts: a sandbox whose daemon ends is ended at once. Whenever events may have
 * been missed, at the start and after each break, everything is reconciled.
 */
export async function watchRuntime(parts: WatchParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const events = await parts.runtime.events(signal)
      await reconcile(parts)
      for await (const { kind, sandboxId, incarnation } of events) {
        if (kind !== 'exited') continue
        parts.starts.abort({ sandboxId, incarnation })
        await endExited(parts, { sandboxId, incarnation })
      }
    } catch (err) {
      if (!signal.aborted) parts.log.warn({ err }, 'runtime events broke off')
    }
    await delay(RESUBSCRIBE_MS, undefined, { signal }).catch(() => undefined)
  }
}
