import type { BuildConfig } from '../build-config.ts'

const HOUR_MS = 3_600_000

export interface UpkeepAges {
  /** Since their last use: layers and uploads. Longer than any build that relies on them since. */
  readonly unusedMs: number
  /** Images that are younger may be of a build that has not recorded them yet. */
  readonly youngMs: number
}

export function upkeepAges({ cacheLifetimeMs, timeoutMs }: Pick<BuildConfig, 'cacheLifetimeMs' | 'timeoutMs'>): UpkeepAges {
  return { unusedMs: Math.max(cacheLifetimeMs, timeoutMs + HOUR_MS), youngMs: Math.max(HOUR_MS, timeoutMs + HOUR_MS / 2) }
}
