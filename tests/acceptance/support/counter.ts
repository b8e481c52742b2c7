import type { Sandbox } from 'e2b'
import { expect } from 'vitest'

const NUMBERS = '/tmp/numbers'
const PATIENCE = { timeout: 30_000, interval: 100 }

export interface Counter {
  readonly pid: number
  /** Waits for numbers past `before`, and checks that the same process wrote 1, 2, 3 and so on without a gap or a repeat. */
  continuesAfter(before: number): Promise<void>
}

/** Starts a process that counts from 1 for as long as it keeps its memory. */
export async function startCounter(sandbox: Sandbox): Promise<Counter> {
  const loop = `n=0; while :; do n=$((n + 1)); echo $n >> ${NUMBERS}; sleep 0.02; done`
  const { pid } = await sandbox.commands.run(loop, { background: true, timeoutMs: 0 })
  await expect.poll(() => countLines(sandbox), PATIENCE).toBeGreaterThan(0)
  return {
    pid,
    async continuesAfter(before) {
      await expect.poll(() => countLines(sandbox), PATIENCE).toBeGreaterThan(before)
      const lines = (await sandbox.files.read(NUMBERS)).split('\n').slice(0, -1)
      expect(lines).toEqual(lines.map((_, index) => String(index + 1)))
      expect((await sandbox.commands.list()).map((process) => process.pid)).toContain(pid)
    },
  }
}

/** The numbers that were written. */
export async function countLines(sandbox: Sandbox): Promise<number> {
  const { stdout } = await sandbox.commands.run(`touch ${NUMBERS}; wc -l < ${NUMBERS}`)
  return Number(stdout)
}
