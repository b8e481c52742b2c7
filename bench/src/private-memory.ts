import { readFile } from 'node:fs/promises'
import { listProcesses } from './engine.ts'

/** MiB of private memory of all processes of a container, which each additional sandbox costs (`smaps_rollup`). */
export async function privateMib(containerId: string): Promise<number> {
  const sizes = (await listProcesses(containerId)).map(({ pid }) => privateMibOf(pid))
  return (await Promise.all(sizes)).reduce((sum, mib) => sum + mib, 0)
}

/** @throws when this account may not read `/proc` of the process */
export async function privateMibOf(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  return [...rollup.matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB$/gm)].reduce((sum, [, kib]) => sum + Number(kib), 0) / 1024
}
