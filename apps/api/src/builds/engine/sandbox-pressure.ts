import { setTimeout as delay } from 'node:timers/promises'
import type { Daemon } from '../../daemon/daemon.ts'
import { readTextFile } from '../../daemon/daemon-files.ts'

/** How often the sandbox has come to a limit since it started; what the kernel does not tell is 0. */
export interface Pressure {
  /** Processes that were killed. */
  readonly outOfMemory: number
  /** Processes and threads that were not begun. */
  readonly outOfProcesses: number
}

/** Where control groups tell it: of version 2, and of version 1. */
const FILES = {
  memory: ['/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control'],
  processes: ['/sys/fs/cgroup/pids.events', '/sys/fs/cgroup/pids/pids.events'],
} as const

/** As long as this at the limit, look by look, are no burst of a large build. */
const LOOKS = 4
const LOOK_EVERY_MS = 5000
const LOOK_TIMEOUT_MS = 4000

export async function readPressure(daemon: Daemon, signal: AbortSignal): Promise<Pressure> {
  const count = async (files: readonly string[], key: string): Promise<number> => {
    for (const file of files) {
      const text = await readTextFile(daemon, file, signal)
      const value = new RegExp(`^${key} (\\d+)$`, 'm').exec(text ?? '')?.[1]
      if (value !== undefined) return Number(value)
    }
    return 0
  }
  const [outOfMemory, outOfProcesses] = await Promise.all([count(FILES.memory, 'oom_kill'), count(FILES.processes, 'max')])
  return { outOfMemory, outOfProcesses }
}

/** Resolves when the sandbox has been refused processes over and over: such a command would go on for ever. */
export async function untilStarved(daemon: Daemon, begun: Pressure, signal: AbortSignal): Promise<void> {
  let last = begun.outOfProcesses
  for (let looks = 0; looks < LOOKS;) {
    await delay(LOOK_EVERY_MS, undefined, { signal })
    const late = AbortSignal.timeout(LOOK_TIMEOUT_MS)
    const now = await readPressure(daemon, AbortSignal.any([signal, late])).catch(() => undefined)
    signal.throwIfAborted()
    if (now === undefined) continue
    looks = now.outOfProcesses > last ? looks + 1 : 0
    last = now.outOfProcesses
  }
}
