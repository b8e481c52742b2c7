import { isAppError } from '@sandyard/kit/errors/app-error'
import type { RuntimeParts } from '../runtime-parts.ts'

type PrunedParts = Pick<RuntimeParts, 'network' | 'volume' | 'log'>

/**
 * Repeats a failed start once when an operator has pruned the network or the daemon volume, which nothing protects while no sandbox uses them:
 * the second start creates them again.
 */
export async function repeatWhenPruned<T>(parts: PrunedParts, start: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await start()
  } catch (failure) {
    if (signal?.aborted || !(await isPruned(parts, failure))) throw failure
    return start()
  }
}

async function isPruned({ network, volume, log }: PrunedParts, failure: unknown): Promise<boolean> {
  if (isAppError(failure, 'conflict') || isAppError(failure, 'not_found')) return false
  const [bridge, isIntact] = await Promise.all([network.find(), volume.isIntact()]).catch(() => [null, true] as const)
  if (bridge === undefined) network.forget()
  const isLost = bridge === undefined || !isIntact
  if (isLost) log.warn({ err: failure }, 'the sandbox network or the daemon volume was removed and is created again')
  return isLost
}
