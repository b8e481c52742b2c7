import { readdirSync, readFileSync } from 'node:fs'

/** Figures that must not grow when a daemon serves the same requests repeatedly. */
export interface Figures {
  readonly descriptors: number
  /** Private memory. */
  readonly mib: number
  /** Ended children that the daemon has not reaped. */
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

/** All figures in one line of text. */
export function describeFigures({ descriptors, mib, zombies, children }: Figures): string {
  return `${descriptors} descriptors, ${children} children, ${zombies} zombies, ${mib.toFixed(1)} MiB`
}

/** True while the process waits for space in a pipe. */
export function isBlockedWriting(pid: number): boolean {
  return read(`/proc/${pid}/wchan`)?.endsWith('pipe_write') === true
}

function stateOfChild(id: string, parent: number): string[] {
  const stat = /^\d+$/.test(id) ? read(`/proc/${id}/stat`) : undefined
  const [state, ppid] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
  return state !== undefined && Number(ppid) === parent ? [state] : []
}

/** Reads a file of `/proc`; undefined if the process has ended. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
