import { readFile } from 'node:fs/promises'

/** A process, also when its pid is given to another one later. */
export interface ProcessIdentity {
  readonly pid: number
  /** Ticks from the boot of the machine to the start of the process. */
  readonly startTicks: string
}

/** undefined when there is no such process, or only its remains. */
export async function identify(pid: number): Promise<ProcessIdentity | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const startTicks = fields[19]
  return fields[0] === 'Z' || startTicks === undefined ? undefined : { pid, startTicks }
}

export async function lives({ pid, startTicks }: ProcessIdentity): Promise<boolean> {
  return (await identify(pid))?.startTicks === startTicks
}
