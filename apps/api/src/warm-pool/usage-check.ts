import type { SandboxRef, Usage } from '@sandyard/runtime/types'

/** A sandbox that waits. */
export interface Waiting extends SandboxRef {
  readonly buildId: string
}

/** A sandbox that waits, and what it counts for at least. */
export interface WaitingShare extends Waiting {
  readonly shareMib: number
}

/** What parked sandboxes use by now. */
export interface PoolUsage {
  /** Those that do not idle: their start command keeps a processor busy. */
  readonly busy: readonly Waiting[]
  /** What they count for in the memory of the pool, by the id of the sandbox. */
  readonly memoryMib: ReadonlyMap<string, number>
}

interface Reading {
  readonly cpuMicroseconds: number
  readonly at: number
}

/** A share of one processor. An idle server with timers uses less. */
const BUSY_SHARE = 0.2
/** Then a build whose sandboxes had no place in the pool is tried again. */
const REMEMBERED_MS = 600_000
const MICROSECONDS_PER_MS = 1000
const MIB = 1024 ** 2

/** Compares what parked sandboxes have used at two times. */
export class UsageCheck {
  #last = new Map<string, Reading>()
  /** By build. */
  readonly #used = new Map<string, { readonly mib: number; readonly at: number }>()

  /** @param now in ms */
  judge(waiting: readonly WaitingShare[], usage: ReadonlyMap<string, Usage>, now: number): PoolUsage {
    const readings = new Map<string, Reading>()
    const memoryMib = new Map<string, number>()
    const ofBuilds = new Map<string, number>()
    const busy: Waiting[] = []
    for (const one of waiting) {
      const used = usage.get(one.sandboxId)
      if (used === undefined) continue
      const { cpuMicroseconds, memoryBytes } = used
      const mib = Math.ceil(memoryBytes / MIB)
      memoryMib.set(one.sandboxId, Math.max(mib, one.shareMib))
      ofBuilds.set(one.buildId, Math.max(mib, ofBuilds.get(one.buildId) ?? 0))
      readings.set(one.sandboxId, { cpuMicroseconds, at: now })
      const before = this.#last.get(one.sandboxId)
      if (before === undefined) continue
      const allowed = (now - before.at) * MICROSECONDS_PER_MS * BUSY_SHARE
      if (cpuMicroseconds - before.cpuMicroseconds > allowed) busy.push(one)
    }
    this.#last = readings
    this.#remember(ofBuilds, now)
    return { busy, memoryMib }
  }

  /** The most that one of them used in the last ten minutes, also while its start command ran; else 0. */
  usedMib(buildId: string, now: number): number {
    const used = this.#used.get(buildId)
    return used === undefined || now - used.at > REMEMBERED_MS ? 0 : used.mib
  }

  #remember(ofBuilds: ReadonlyMap<string, number>, now: number): void {
    for (const [buildId, { at }] of this.#used) if (now - at > REMEMBERED_MS) this.#used.delete(buildId)
    for (const [buildId, mib] of ofBuilds) {
      const most = this.#used.get(buildId)
      if (most === undefined || mib >= most.mib) this.#used.set(buildId, { mib, at: now })
    }
  }
}
