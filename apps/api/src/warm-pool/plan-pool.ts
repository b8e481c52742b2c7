import type { SandboxRef } from '@sandyard/runtime/types'
import type { ReadyBuild } from '../templates/template.ts'
import type { PoolBounds } from './pool-config.ts'

/** A build of which sandboxes should wait. */
export interface WantedBuild {
  readonly templateId: string
  readonly build: ReadyBuild
  /** How many sandboxes of it should wait if the bounds allow it. */
  readonly count: number
}

/** A row of the pool, as a plan needs it. Oldest first. */
export interface ParkedRow extends SandboxRef {
  readonly buildId: string
  readonly state: 'parking' | 'parked'
  readonly memoryMib: number
  /** It was started as this server would start it now. */
  readonly isCurrent: boolean
  /** This server has started it, or one that has ended. */
  readonly isOurs: boolean
  /** It has expired, its start takes too long, or it is ours and would be started in another way now. */
  readonly isStale: boolean
}

/** What there is now. */
export interface PoolSituation {
  readonly rows: readonly ParkedRow[]
  /** How many starts may begin. */
  readonly mayPark: number
  /** Builds of which none may be started for now. What waits of them stays. */
  readonly isPaused: (buildId: string) => boolean
  /** MiB that sandboxes of the build have used lately; 0 if none waited. */
  readonly usedMib: (buildId: string) => number
}

export interface PoolPlan {
  readonly park: readonly WantedBuild[]
  readonly giveUp: readonly SandboxRef[]
  /** More is missing than may start now. */
  readonly isShort: boolean
}

const LEAST_MEMORY_MIB = 64
const MEMORY_SHARE = 8

/** What a parked sandbox counts for, unless it uses more. Most idle with less. */
export function parkedMemoryMib({ memoryMib }: Pick<ReadyBuild, 'memoryMib'>): number {
  return Math.max(LEAST_MEMORY_MIB, Math.ceil(memoryMib / MEMORY_SHARE))
}

/**
 * What to start and what to give up. Each wanted build gets one sandbox before any gets a second one, in the given order, and so on within the
 * memory. What another live server has started is left to it: its settings may differ, and two servers must not end and start the same sandboxes
 * in turn.
 */
export function planPool(
  { memoryMib, perTemplate }: Pick<PoolBounds, 'memoryMib' | 'perTemplate'>,
  wanted: readonly WantedBuild[],
  { rows, mayPark, isPaused, usedMib }: PoolSituation,
): PoolPlan {
  const kept = rows.filter(({ isStale }) => !isStale)
  const isWanted = new Set(wanted.map(({ build }) => build.buildId))
  // It ends by itself, or its server gives it up at its next pass.
  const foreignMib = sum(kept.filter(({ isCurrent, isOurs, buildId }) => !isCurrent || (!isOurs && !isWanted.has(buildId))))
  const costOf = (build: ReadyBuild): number => {
    const used = kept.filter(({ buildId }) => buildId === build.buildId).map((row) => row.memoryMib)
    return Math.max(parkedMemoryMib(build), usedMib(build.buildId), ...used)
  }
  const targets = targetsOf(wanted, { memoryMib: memoryMib - foreignMib, perTemplate, costOf })
  const giveUp: SandboxRef[] = rows.filter(({ isStale }) => isStale)
  const missing = new Map(targets)
  for (const row of kept.filter(({ isCurrent }) => isCurrent).toReversed()) {
    const open = missing.get(row.buildId) ?? 0
    if (open > 0) missing.set(row.buildId, open - 1)
    else if (row.state === 'parked' && row.isOurs) giveUp.push(row)
  }
  const park: WantedBuild[] = []
  for (const each of wanted) {
    const { buildId } = each.build
    if (isPaused(buildId)) continue
    for (let open = missing.get(buildId) ?? 0; open > 0; open -= 1) park.push(each)
    missing.delete(buildId)
  }
  return { park: park.slice(0, Math.max(0, mayPark)), giveUp, isShort: park.length > mayPark }
}
interface Bounds extends Pick<PoolBounds, 'memoryMib' | 'perTemplate'> {
  /** MiB of one sandbox. */
  readonly costOf: (build: ReadyBuild) => number
}

/** How many sandboxes of each build should wait. */
function targetsOf(wanted: readonly WantedBuild[], { memoryMib, perTemplate, costOf }: Bounds): Map<string, number> {
  const targets = new Map<string, number>()
  let free = memoryMib
  for (let round = 1; round <= perTemplate; round += 1) {
    let isDone = true
    for (const { build, count } of wanted) {
      const cost = costOf(build)
      if (count < round || cost > free) continue
      const target = targets.get(build.buildId) ?? 0
      if (target >= round) continue
      targets.set(build.buildId, target + 1)
      free -= cost
      isDone = false
    }
    if (isDone) break
  }
  return targets
}

function sum(rows: readonly ParkedRow[]): number {
  return rows.reduce((mib, row) => mib + row.memoryMib, 0)
}
