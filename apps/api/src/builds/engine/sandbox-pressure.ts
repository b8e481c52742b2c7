import type { Daemon } from '../../daemon/daemon.ts'
import { readTextFile } from '../../daemon/daemon-files.ts'
import type { Attempt } from './attempt.ts'

/** How often the sandbox has come to a limit since it started; what the kernel does not tell is 0. */
export interface Pressure {
  readonly outOfMemory: number
  readonly outOfProcesses: number
}

/** Where control groups tell it: of version 2, and of version 1. */
const FILES = {
  memory: ['/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control'],
  processes: ['/sys/fs/cgroup/pids.events', '/sys/fs/cgroup/pids/pids.events'],
} as const

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

/** Why a command may have failed that says nothing of it itself: what has come since `before`. Undefined when nothing has. */
export async function troubleOf({ sandbox, job, signal }: Attempt, before: Pressure): Promise<string | undefined> {
  if (sandbox.daemon === undefined || !(await sandbox.isAlive())) return 'the build sandbox has ended'
  const now = await readPressure(sandbox.daemon, signal).catch(() => before)
  if (now.outOfMemory > before.outOfMemory) return `out of memory: the limit is ${job.resources.memoryMib} MiB`
  if (now.outOfProcesses > before.outOfProcesses) return 'the limit of processes was reached'
  return undefined
}
