import { within } from '@sandyard/kit/async/within'
import type { SandboxRef } from '@sandyard/runtime/types'
import { SERVER } from '../../events/actor.ts'
import { assertEngineOf } from '../../servers/engine-binding.ts'
import type { WarmPool } from '../../warm-pool/warm-pool.ts'
import { beginEnd, finishEnd, killing, REMOVE_TIMEOUT_MS, type EndParts } from '../end/end-sandbox.ts'
import { pauseAgain } from '../lifecycle/pause-again.ts'
import { pausing } from '../lifecycle/pause-steps.ts'
import { settle, type SettleParts } from '../lifecycle/settle-sandbox.ts'
import { applyEgress, listPendingEgress } from '../network/apply-egress.ts'
import { changeState } from '../sandbox-state.ts'
import { giveUpStarts, listStaleEnds, takeOverTransitions } from './abandoned-rows.ts'
import { findDifferences, type DifferenceParts } from './find-differences.ts'
import type { Repairs } from './repairs.ts'

export const RECONCILE_EVERY_MS = 10_000

export interface ReconcilerParts extends EndParts, SettleParts, DifferenceParts {
  readonly repairs: Repairs
  readonly pool: Pick<WarmPool, 'lost'>
}

/**
 * Repairs differences between rows and sandboxes after a killed server, a lost answer or an engine restart. Any number of servers may run
 * it at once. Repairs continue in the background after the return.
 *
 * @throws AppError when the engine does not answer or is not the one of this database; then nothing is removed
 */
export async function reconcile(parts: ReconcilerParts, signal?: AbortSignal): Promise<void> {
  await assertEngineOf(parts.database.db, parts.engineId)
  await finishAbandoned(parts)
  const { lost, frozen, thawed, withoutMemory, orphans, endedParked } = await findDifferences(parts, signal)
  await parts.pool.lost(endedParked)
  for (const { sandboxId, incarnation, state, runSince } of lost) {
    const ref = { sandboxId, incarnation }
    void parts.repairs.run(ref, async () => {
      const reason = await parts.endReasons.reasonOf(ref)
      parts.log.warn({ ...ref, reason }, 'sandbox is lost')
      // A repair may wait for others: the sandbox may have been paused when it was listed, and resumed since.
      if (await beginEnd(parts.database, ref, { ...killing(reason, SERVER, state), runSince })) await finishEnd(parts, ref)
    })
  }
  for (const ref of frozen) void parts.repairs.run(ref, () => thawFrozen(parts, ref))
  for (const row of thawed) void parts.repairs.run(row, () => pauseAgain(parts, row, { keep: row.keep ?? 'files', reason: 'thawed' }))
  for (const ref of withoutMemory) void parts.repairs.run(ref, () => pauseAgain(parts, ref, { keep: 'files', reason: 'engine_restarted' }))
  for (const ref of orphans) {
    parts.log.warn({ ...ref }, 'removing a sandbox without a row')
    void parts.repairs.run(ref, () =>
      within({ what: 'the removal of the sandbox', timeoutMs: REMOVE_TIMEOUT_MS }, () => parts.runtime.remove(ref)),
    )
  }
}

/** Ends starts that take too long or whose server is dead, finishes ends and network updates that were not completed, and settles abandoned transitions. */
async function finishAbandoned(parts: ReconcilerParts): Promise<void> {
  for (const { ref, run } of parts.inFlight.takeUndos()) void parts.repairs.runNext(ref, run)
  for (const ref of await takeOverTransitions(parts)) {
    parts.log.info({ ...ref }, 'settling an abandoned transition')
    void parts.repairs.run(ref, () => settleHeld(parts, ref))
  }
  for (const ref of await listPendingEgress(parts.database.db)) {
    void parts.repairs.run(ref, () => {
      parts.log.info({ ...ref }, 'putting a network in force that an update left')
      return applyEgress(parts, ref)
    })
  }
  for (const ref of [...(await giveUpStarts(parts)), ...(await listStaleEnds(parts.database.db))]) {
    void parts.repairs.run(ref, () => {
      parts.log.info({ ...ref }, 'finishing an abandoned sandbox')
      return finishEnd(parts, ref)
    })
  }
}

/** A request of this server may have begun another transition since the row was taken over. */
async function settleHeld(parts: ReconcilerParts, ref: SandboxRef): Promise<void> {
  if (parts.inFlight.has(ref)) return
  using _held = parts.inFlight.hold(ref)
  await settle(parts, ref)
}

/** Only this server's state changes freeze and thaw a running sandbox; the transition keeps others away. */
async function thawFrozen(parts: ReconcilerParts, ref: SandboxRef): Promise<void> {
  const wish = { keep: 'memory', actor: SERVER, isResponsive: true } as const
  using _held = parts.inFlight.hold(ref)
  if (await parts.database.transaction((tx) => changeState(tx, ref, pausing(wish, parts.serverId)))) await settle(parts, ref)
}
