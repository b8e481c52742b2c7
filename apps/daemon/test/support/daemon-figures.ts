import { readdirSync, readFileSync } from 'node:fs'

/** What must not grow in a daemon that is asked for the same things again and again. */
export interface Figures {
  readonly descriptors: number
  /** Private memory. */
  readonly mib: number
  /** Children that have ended and were not waited for. */
  readonly zombies: number
  readonly children: number
}

export function measure(pid: number): Figures {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const kib = [...rollup.matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB$/gm)].reduce((sum, match) => sum + Number(match[1]), 0)
  const states = readdirSync('/proc').flatMap((id) => stateOfChild(id, pid))
  return {
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    mib: kib / 1024,
    zombies: states.filter((state) => state === 'Z').length,
    children: states.length,
  }
}

/** A line with everything, for a person. */
export function describeFigures({ descriptors, mib, zombies, children }: Figures): string {
  return `${descriptors} descriptors, ${children} children, ${zombies} zombies, ${mib.toFixed(1)} MiB`
}

/** True while the process waits for room in a pipe. */
export function isBlockedWriting(pid: number): boolean {
  return read(`/proc/${pid}/wchan`)?.endsWith('pipe_write') === true
}

function stateOfChild(id: string, parent: number): string[] {
  const stat = /^\d+$/.test(id) ? read(`/proc/${id}/stat`) : undefined
  const [state, ppid] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
  return state !== undefined && Number(ppid) === parent ? [state] : []
}

/** A file of the kernel about a process, which may end at any time. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
