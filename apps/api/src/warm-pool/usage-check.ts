import type { SandboxRef, Usage } from '@sandyard/runtime/types'

/** What a parked sandbox uses by now, by its id. */
export interface PoolUsage {
  /** Those that do not idle: their start command keeps a processor busy. */
  readonly busy: readonly SandboxRef[]
  readonly memoryMib: ReadonlyMap<string, number>
}

interface Reading {
  readonly cpuMicroseconds: number
  readonly at: number
}

/** A share of one processor. An idle server with timers uses less. */
const BUSY_SHARE = 0.2
const MICROSECONDS_PER_MS = 1000
const MIB = 1024 ** 2

/** Compares what parked sandboxes have used at two times. */
export class UsageCheck {
  #last = new Map<string, Reading>()

  /** @param now in ms */
  judge(refs: readonly SandboxRef[], usage: ReadonlyMap<string, Usage>, now: number): PoolUsage {
    const readings = new Map<string, Reading>()
    const memoryMib = new Map<string, number>()
    const busy: SandboxRef[] = []
    for (const ref of refs) {
      const used = usage.get(ref.sandboxId)
      if (used === undefined) continue
      const { cpuMicroseconds, memoryBytes } = used
      memoryMib.set(ref.sandboxId, Math.ceil(memoryBytes / MIB))
      readings.set(ref.sandboxId, { cpuMicroseconds, at: now })
      const before = this.#last.get(ref.sandboxId)
      if (before === undefined) continue
      const allowed = (now - before.at) * MICROSECONDS_PER_MS * BUSY_SHARE
      if (cpuMicroseconds - before.cpuMicroseconds > allowed) busy.push(ref)
    }
    this.#last = readings
    return { busy, memoryMib }
  }
}
