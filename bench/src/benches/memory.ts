import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { Sandbox } from 'e2b'
import { findSandboxContainer, listProcesses } from '../engine.ts'
import type { Comparison } from '../report.ts'

const SETTLE_MS = 5000
const SANDBOXES = 3

/**
 * What an idle sandbox costs: the private memory of every process in it, all of which are ours. Several run at once, because the
 * pages of the daemon's files are private to a sandbox that is alone.
 */
export async function benchMemory(): Promise<Comparison[]> {
  const sandboxes = await Promise.all(Array.from({ length: SANDBOXES }, () => Sandbox.create({ timeoutMs: 600_000 })))
  try {
    const containers = await Promise.all(sandboxes.map(({ sandboxId }) => findSandboxContainer(sandboxId)))
    const measure = async (): Promise<number[]> => {
      await delay(SETTLE_MS)
      return Promise.all(containers.map(({ Id }) => privateMib(Id)))
    }
    const fresh = await measure()
    await Promise.all(sandboxes.map(use))
    const used = await measure()
    return [
      { what: 'private memory of an idle sandbox, fresh', unit: 'MiB', ours: fresh, goal: '<= 35 MiB' },
      { what: 'private memory of an idle sandbox, after 20 commands and an upload', unit: 'MiB', ours: used, goal: '<= 35 MiB' },
    ]
  } finally {
    await Promise.all(sandboxes.map((sandbox) => sandbox.kill()))
  }
}

async function use(sandbox: Sandbox): Promise<void> {
  for (let runs = 0; runs < 20; runs++) await sandbox.commands.run('true')
  await sandbox.files.write('/tmp/x', 'x'.repeat(1024 * 1024))
}

async function privateMib(containerId: string): Promise<number> {
  const sizes = (await listProcesses(containerId)).map(async ({ pid }) => {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
    return [...rollup.matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB$/gm)].reduce((sum, [, kib]) => sum + Number(kib), 0)
  })
  return (await Promise.all(sizes)).reduce((sum, kib) => sum + kib, 0) / 1024
}
