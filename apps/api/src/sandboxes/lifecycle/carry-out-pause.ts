import { AppError } from '@sandyard/kit/errors/app-error'
import type { SandboxRef } from '@sandyard/runtime/types'
import { storeLastLogs } from '../../sandbox-logs/store-last-logs.ts'
import { changeState } from '../sandbox-state.ts'
import { askForPause, paused, type PauseWish } from './pause-steps.ts'
import { settleOrLater, type SettleParts } from './settle-sandbox.ts'

/**
 * The second half of a pause, of a sandbox in state `pausing`. A pause that fails leaves the sandbox running. If this process dies, the
 * reconciler settles the sandbox.
 *
 * @returns false when the sandbox was killed meanwhile, or another server has taken it over
 * @throws AppError `internal`
 */
export function carryOutPause(parts: SettleParts, ref: SandboxRef, wish: Omit<PauseWish, 'isResponsive'>): Promise<boolean> {
  return parts.timings.time('pause', () => carryOut(parts, ref, wish))
}

async function carryOut(parts: SettleParts, ref: SandboxRef, { keep, actor }: Omit<PauseWish, 'isResponsive'>): Promise<boolean> {
  using _held = parts.inFlight.hold(ref)
  try {
    // The daemon's log is in its memory.
    if (keep === 'files') await storeLastLogs(parts, ref)
    const handle = await askForPause(parts.runtime, ref, { keep })
    const event = { kind: 'sandbox.paused', data: { keep: handle.keep } } as const
    const memoryLost = keep === 'memory' && handle.keep === 'files' ? 'processes_ended' : undefined
    const change = { ...paused(handle, { from: 'pausing', actor, event, memoryLost }), owner: parts.serverId }
    return await parts.database.transaction((tx) => changeState(tx, ref, change))
  } catch (cause) {
    parts.log.warn({ err: cause, ...ref }, 'sandbox could not be paused')
    await settleOrLater(parts, ref)
    throw new AppError('internal', 'Error pausing sandbox', { cause })
  }
}
