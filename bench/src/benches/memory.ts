import { setTimeout as delay } from 'node:timers/promises'
import { Sandbox } from 'e2b'
import { findSandboxContainer } from '../engine.ts'
import { privateMib } from '../private-memory.ts'
import type { Comparison } from '../report.ts'

const SETTLE_MS = 5000
const SANDBOXES = 3

/**
 * The cost of an idle sandbox: the private memory of all its processes, which are all ours. Several sandboxes run at once, because the
 * pages of the daemon's files count as private when only one sandbox runs.
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
    const goal = { of: 'ours', at: ['p50', 'p95'], atMost: 35 } as const
    return [
      { what: 'private memory of an idle sandbox, fresh', unit: 'MiB', ours: fresh, goal },
      { what: 'private memory of an idle sandbox, after 20 commands and an upload', unit: 'MiB', ours: used, goal },
    ]
  } finally {
    await Promise.all(sandboxes.map((sandbox) => sandbox.kill()))
  }
}

async function use(sandbox: Sandbox): Promise<void> {
  for (let runs = 0; runs < 20; runs++) await sandbox.commands.run('true')
  await sandbox.files.write('/tmp/x', 'x'.repeat(1024 * 1024))
}
