import type { Comparison } from '../report.ts'
import { benchKills } from './kills.ts'
import { benchPauses } from './pauses.ts'
import { benchSnapshots } from './snapshots.ts'

/** Pause, connect, kill, snapshot and fork, each compared with what the engine takes for the same on a container of its own. */
export async function benchLifecycle(): Promise<Comparison[]> {
  return [...(await benchPauses()), ...(await benchKills()), ...(await benchSnapshots())]
}
