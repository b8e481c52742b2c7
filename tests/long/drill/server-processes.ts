import { readFileSync } from 'node:fs'
import { findSandboxContainer, listProcesses } from '../../../bench/src/engine.ts'
import { descendantsOf } from '../../acceptance/support/processes.ts'

/** Identifies a process, so that a later one with the same pid is not mistaken for it. */
export interface KnownProcess {
  readonly name: string
  readonly pid: number
  /** Clock ticks since boot. */
  readonly startTicks: string
}

/** Processor time so far and memory now, of one process. */
export interface Usage {
  readonly cpuMs: number
  /** Without memory that is shared with files, such as the program. */
  readonly mib: number
}

/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10
const SERVER = 'apps/standalone/src/main.ts'
const PARTS: readonly (readonly [string, RegExp])[] = [
  ['proxy', /apps\/proxy\/src\/main\.ts/],
  ['database', /bin\/postgres -D/],
]

/** Finds the server that this process has started, its proxy and its database. @throws Error when one of them does not run */
export function findServerProcesses(): KnownProcess[] {
  const server = descendantsOf(process.pid).find((pid) => commandOf(pid).includes(SERVER))
  if (server === undefined) throw new Error('the server does not run')
  const below = descendantsOf(server)
  return [
    know('api', server),
    ...PARTS.map(([name, command]) => {
      const pid = below.find((pid) => command.test(commandOf(pid)))
      if (pid === undefined) throw new Error(`the ${name} does not run`)
      return know(name, pid)
    }),
  ]
}

/** Finds the daemon of a sandbox among the processes of the machine. */
export async function findDaemon(name: string, sandboxId: string): Promise<KnownProcess> {
  const { Id } = await findSandboxContainer(sandboxId)
  const found = (await listProcesses(Id)).find(({ command }) => /daemon\.cjs/.test(command) && !/docker-init|tini/.test(command))
  if (found === undefined) throw new Error(`the sandbox ${sandboxId} has no daemon`)
  return know(name, found.pid)
}

/** Undefined when the process has ended. */
export function usageOf({ pid, startTicks }: Pick<KnownProcess, 'pid' | 'startTicks'>): Usage | undefined {
  const fields = statOf(pid)
  if (fields === undefined || fields[19] !== startTicks || fields[0] === 'Z') return undefined
  const kib = /^RssAnon:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1]
  return kib === undefined ? undefined : { cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS, mib: Number(kib) / 1024 }
}

function know(name: string, pid: number): KnownProcess {
  const startTicks = statOf(pid)?.[19]
  if (startTicks === undefined) throw new Error(`the ${name} has ended`)
  return { name, pid, startTicks }
}

/** The fields of `/proc/<pid>/stat` from the third one (the state). The second field may contain any characters. */
function statOf(pid: number): string[] | undefined {
  const stat = read(`/proc/${pid}/stat`)
  return stat === '' ? undefined : stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function commandOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
