import type { SandboxRef } from '@sandyard/runtime/types'
import type { Repairs } from '../repair/repairs.ts'
import { pauseAgain } from './pause-again.ts'
import { refOf } from './lifecycle-parts.ts'
import type { SettleParts } from './settle-sandbox.ts'

export const PAUSED_MEMORY_EVERY_MS = 10_000

/** More than an engine can hold. */
const MOST = 10_000

export interface PausedMemoryParts extends SettleParts {
  readonly repairs: Repairs
  /** What the memory of paused sandboxes may take on this host (SANDYARD_PAUSED_MEMORY). */
  readonly pausedMemoryBytes: number
}

/**
 * Drops the memory of the sandboxes that are paused for the longest time, until the others fit into the limit; those that traffic wakes come
 * last. Several servers may run it at once: they choose the same ones, and each is changed by one.
 */
export async function freePausedMemory(parts: PausedMemoryParts): Promise<void> {
  const rows = await parts.database.db
    .selectFrom('sandbox')
    .select(['sandbox_id', 'incarnation'])
    .where('state', '=', 'paused')
    .where('pause_keep', '=', 'memory')
    .orderBy('auto_resume')
    .orderBy('paused_at')
    .limit(MOST)
    .execute()
  if (rows.length === 0) return
  const refs = rows.map(refOf)
  const usage = await parts.runtime.usage(refs)
  const bytesOf = ({ sandboxId }: SandboxRef): number => usage.get(sandboxId)?.memoryBytes ?? 0
  let excess = refs.reduce((sum, ref) => sum + bytesOf(ref), 0) - parts.pausedMemoryBytes
  for (const ref of refs) {
    if (excess <= 0) return
    excess -= bytesOf(ref)
    void parts.repairs.run(ref, () => pauseAgain(parts, ref, { keep: 'files', reason: 'memory_short' }))
  }
}
