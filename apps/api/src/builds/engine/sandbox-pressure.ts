import { setTimeout as delay } from 'node:timers/promises'
import type { Daemon } from '../../daemon/daemon.ts'
import { readTextFile } from '../../daemon/daemon-files.ts'

/** How often the sandbox has reached a limit since its start; 0 where the kernel does not report it. */
export interface Pressure {
  /** Processes that the kernel killed. */
  readonly outOfMemory: number
  /** Refused processes and threads. */
  readonly outOfProcesses: number
}

/** Files of control groups, version 2 and version 1. */
const FILES = {
  memory: ['/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control'],
  processes: ['/sys/fs/cgroup/pids.events', '/sys/fs/cgroup/pids/pids.events'],
} as const

export interface Patience {
  readonly lookEveryMs: number
  readonly lookTimeoutMs: number
  /** Checks in a row at the limit; a burst of a large build has fewer. */
  readonly looksAtLimit: number
  /** Checks in a row without an answer: at least three minutes. A busy daemon has fewer. */
  readonly looksInVain: number
}

const PATIENCE: Patience = { lookEveryMs: 5000, lookTimeoutMs: 4000, looksAtLimit: 4, looksInVain: 36 }

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

/**
 * Resolves when a command can never end: the sandbox was refused processes in many checks in a row (`starved`), or its daemon, which root
 * inside can stop, has not answered for minutes (`silent`).
 */
export async function untilStuck(
  daemon: Daemon,
  { begun, signal, patience = PATIENCE }: { readonly begun: Pressure; readonly signal: AbortSignal; readonly patience?: Patience },
): Promise<'starved' | 'silent'> {
  let last = begun.outOfProcesses
  let [atLimit, inVain] = [0, 0]
  while (true) {
    await delay(patience.lookEveryMs, undefined, { signal })
    const late = AbortSignal.timeout(patience.lookTimeoutMs)
    const now = await readPressure(daemon, AbortSignal.any([signal, late])).catch(() => undefined)
    signal.throwIfAborted()
    inVain = now === undefined ? inVain + 1 : 0
    if (inVain >= patience.looksInVain) return 'silent'
    if (now === undefined) continue
    atLimit = now.outOfProcesses > last ? atLimit + 1 : 0
    if (atLimit >= patience.looksAtLimit) return 'starved'
    last = now.outOfProcesses
  }
}
