import { setTimeout as delay } from 'node:timers/promises'
import { SingleFlight } from '@sandyard/kit/async/single-flight'
import type { RuntimeSandbox, SandboxRef } from '@sandyard/runtime/types'
import { beginEnd, finishEnd } from './end-sandbox.ts'
import { attempt, reconcile, type ReconcilerParts } from './reconciler.ts'
import type { StartsUnderWay } from './starts-under-way.ts'

export interface WatchParts extends ReconcilerParts {
  readonly starts: StartsUnderWay
}

const RESUBSCRIBE_MS = 1000
/** For a moment after an event the runtime may still tell the former state. */
const LOOKS = 20
const LOOK_EVERY_MS = 100

/**
 * Follows the runtime's events until `signal` aborts: a sandbox that exits by itself is ended at once. Whenever events may have
 * been missed, at the start and after each break, everything is reconciled.
 */
export async function watchRuntime(parts: WatchParts, signal: AbortSignal): Promise<void> {
  const under = new Set<Promise<void>>()
  const look = new SingleFlight<'list', RuntimeSandbox[]>()
  const list = (): Promise<RuntimeSandbox[]> => look.run('list', () => parts.runtime.list())
  while (!signal.aborted) {
    try {
      const events = await parts.runtime.events(signal)
      await reconcile(parts)
      for await (const { kind, sandboxId, incarnation } of events) {
        if (kind !== 'exited') continue
        const ref = { sandboxId, incarnation }
        const ending = attempt(parts, ref, () => endExited(parts, ref, list)).finally(() => under.delete(ending))
        under.add(ending)
      }
    } catch (err) {
      if (!signal.aborted) parts.log.warn({ err }, 'runtime events broke off')
    }
    await delay(RESUBSCRIBE_MS, undefined, { signal }).catch(() => undefined)
  }
  await Promise.all(under)
}

/** Ends what exited by itself. Most exits are of sandboxes that someone is ending, who needs no help. */
async function endExited(parts: WatchParts, ref: SandboxRef, list: () => Promise<RuntimeSandbox[]>): Promise<void> {
  if (!(await shouldRun(parts, ref)) || !(await hasExited(ref, list))) return
  parts.starts.abort(ref)
  parts.log.warn(ref, 'sandbox exited by itself')
  if (await beginEnd(parts.database, ref, 'lost')) await finishEnd(parts, ref)
}

async function shouldRun({ database }: WatchParts, { sandboxId, incarnation }: SandboxRef): Promise<boolean> {
  const row = await database.db
    .selectFrom('sandbox')
    .select('sandbox_id')
    .where('sandbox_id', '=', sandboxId)
    .where('incarnation', '=', incarnation)
    .where('state', 'in', ['starting', 'running'])
    .executeTakeFirst()
  return row !== undefined
}

async function hasExited({ sandboxId, incarnation }: SandboxRef, list: () => Promise<RuntimeSandbox[]>): Promise<boolean> {
  for (let looks = 0; looks < LOOKS; looks += 1) {
    if (looks > 0) await delay(LOOK_EVERY_MS)
    const found = (await list()).find((sandbox) => sandbox.sandboxId === sandboxId && sandbox.incarnation === incarnation)
    if (found === undefined || found.state === 'stopped') return true
  }
  return false
}
