import { existsSync, readdirSync, readFileSync } from 'node:fs'

interface Process {
  readonly pid: number
  readonly parent: number
  readonly state: string
}

/** The children of a process, their children and so on. */
export function descendantsOf(pid: number): number[] {
  const all = processes()
  const found = [pid]
  for (const ancestor of found) found.push(...all.filter(({ parent }) => parent === ancestor).map((process) => process.pid))
  return found.slice(1)
}

/** False for a zombie, which has ended but was not reaped. */
export function isAlive(pid: number): boolean {
  const process = existsSync(`/proc/${pid}`) ? readProcess(pid) : undefined
  return process !== undefined && process.state !== 'Z'
}

/** The command lines of live processes that mention `text`. */
export function commandsWith(text: string): string[] {
  const lines = processes().map(({ pid }) => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' '))
  return lines.filter((line) => line.includes(text))
}

function processes(): Process[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map((name) => readProcess(Number(name))).filter((process) => process !== undefined)
}

/** The name in the second field may have any characters, so the fields are read after its closing bracket. */
function readProcess(pid: number): Process | undefined {
  const stat = read(`/proc/${pid}/stat`)
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return state === undefined || parent === undefined ? undefined : { pid, parent: Number(parent), state }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
