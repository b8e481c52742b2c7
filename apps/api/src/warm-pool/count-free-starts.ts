import type { Admission } from '../admission/admission.ts'
import type { WantedBuild } from './plan-pool.ts'
import type { PoolBounds } from './pool-config.ts'

export interface FreeStartParts {
  readonly admission: Pick<Admission, 'hasRoom'>
  readonly config: Pick<PoolBounds, 'width'>
  /** Creates need the machine. */
  readonly isBusy: () => boolean
}

/** How many starts may begin beside those in flight: none while creates need the machine, or while the host has no room for them. */
export async function countFreeStarts(
  { admission, config, isBusy }: FreeStartParts,
  wanted: readonly WantedBuild[],
  inFlight: number,
): Promise<number> {
  let free = config.width - inFlight
  if (wanted.length === 0 || isBusy()) return 0
  const largest = Math.max(...wanted.map(({ build }) => build.memoryMib))
  while (free > 0 && !(await admission.hasRoom(largest, free))) free -= 1
  return free
}
