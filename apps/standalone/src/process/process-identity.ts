import { readFileSync } from 'node:fs'
import { pollUntil } from '@sandyard/kit/async/poll-until'

/**
 * Identifies a process, so that a later one with the same pid is not mistaken for it. The kernel's start time of a process
 * never changes; the identity also contains the boot from which the time is counted.
 */
export interface ProcessIdentity {
  readonly pid: number
  /** Clock ticks since boot, field 22 of `/proc/<pid>/stat`. */
  readonly startTicks: string
  readonly bootId: string
}

/** Undefined when there is no such process, or when it has ended and is not reaped yet. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The command name is in parentheses and may contain spaces and parentheses: fields are counted after the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state] = fields
    const startTicks = fields[19]
    if (startTicks === undefined || state === 'Z' || state === 'X') return undefined
    return { pid, startTicks, bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim() }
  } catch {
    return undefined
  }
}

/** The identity of a process that was just started. If it has ended already, the identity is of no running process. */
export function identifyChild(pid: number): ProcessIdentity {
  return identifyProcess(pid) ?? { pid, startTicks: '', bootId: '' }
}

export function isStillRunning(identity: ProcessIdentity): boolean {
  const now = identifyProcess(identity.pid)
  return now !== undefined && now.startTicks === identity.startTicks && now.bootId === identity.bootId
}

/** The command line of a process, empty when the process has ended. */
export function commandLine(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1)
  } catch {
    return []
  }
}

/**
 * Sends the signals in turn, each with its own time to take effect, until the process has ended.
 *
 * @returns whether it has ended
 */
export async function endProcess(
  identity: ProcessIdentity,
  signals: readonly { readonly signal: NodeJS.Signals; readonly waitMs: number }[],
): Promise<boolean> {
  for (const { signal, waitMs } of signals) {
    if (!isStillRunning(identity)) return true
    try {
      process.kill(identity.pid, signal)
    } catch {
      // The process ended in between, or belongs to another user; the wait below detects it.
    }
    const gone = await pollUntil({ what: `process ${identity.pid}`, timeoutMs: waitMs, everyMs: 25 }, () =>
      isStillRunning(identity) ? undefined : true,
    ).catch(() => false)
    if (gone) return true
  }
  return !isStillRunning(identity)
}
