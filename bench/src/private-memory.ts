import { readFile } from 'node:fs/promises'
import { listProcesses } from './engine.ts'

/** MiB of private memory of all processes of a container, which each additional sandbox costs (`smaps_rollup`). */
export async function privateMib(containerId: string): Promise<number> {
  const sizes = (await listProcesses(containerId)).map(({ pid }) => privateMibOf(pid))
  return (await Promise.all(sizes)).reduce((sum, mib) => sum + mib, 0)
}

/**
 * 0 after its end.
 *
 * @throws when this account may not read `/proc` of the process
 */
export async function privateMibOf(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch((err: NodeJS.ErrnoException) => {
    // The kernel answers ESRCH for a process that ends while it is read.
    if (err.code === 'ENOENT' || err.code === 'ESRCH') return ''
    throw err
  })
  return [...rollup.matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB$/gm)].reduce((sum, [, kib]) => sum + Number(kib), 0) / 1024
}
