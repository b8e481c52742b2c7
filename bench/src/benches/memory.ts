import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { findSandboxContainer, listProcesses } from '../engine.ts'
import type { Comparison } from '../report.ts'
import { withSandbox } from '../with-sandbox.ts'

const SETTLE_MS = 5000
const SANDBOXES = 3

/** What an idle sandbox costs: the private memory of every process in it, all of which are ours. */
export async function benchMemory(): Promise<Comparison[]> {
  const fresh: number[] = []
  const used: number[] = []
  for (let i = 0; i < SANDBOXES; i++) {
    await withSandbox(async (sandbox) => {
      const { Id } = await findSandboxContainer(sandbox.sandboxId)
      await delay(SETTLE_MS)
      fresh.push(await privateMib(Id))
      for (let runs = 0; runs < 20; runs++) await sandbox.commands.run('true')
      await sandbox.files.write('/tmp/x', 'x'.repeat(1024 * 1024))
      await delay(SETTLE_MS)
      used.push(await privateMib(Id))
    })
  }
  return [
    { what: 'private memory of an idle sandbox, fresh', unit: 'MiB', ours: fresh, goal: '<= 35 MiB' },
    { what: 'private memory of an idle sandbox, after 20 commands and an upload', unit: 'MiB', ours: used, goal: '<= 35 MiB' },
  ]
}

async function privateMib(containerId: string): Promise<number> {
  const sizes = (await listProcesses(containerId)).map(async ({ pid }) => {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
    return [...rollup.matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB$/gm)].reduce((sum, [, kib]) => sum + Number(kib), 0)
  })
  return (await Promise.all(sizes)).reduce((sum, kib) => sum + kib, 0) / 1024
}
