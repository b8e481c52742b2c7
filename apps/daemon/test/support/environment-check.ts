import { run } from './collect.ts'
import type { TestDaemon } from './test-daemon.ts'

type Caller = Pick<TestDaemon, 'process'>

/** 5 KB: more than the small buffers that Node keeps in one pool. */
const VARIABLES = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`VARIABLE_${index}`, String(index).padEnd(90, 'x')]))
const PRINT = ['/usr/bin/env', '-0']

/**
 * Starts a program `count` times with an environment of 5 KB, eight at a time, and compares the environment that it gets byte by byte.
 *
 * @returns the differences of the first few wrong starts
 */
export async function compareEnvironments(caller: Caller, count: number): Promise<string[]> {
  const base = toLines((await run(caller, PRINT)).stdout)
  const wrong: string[] = []
  let next = 0
  async function worker(): Promise<void> {
    while (next < count && wrong.length < 10) {
      const index = next++
      const envs = { ...VARIABLES, RUN: String(index) }
      const { stdout, end } = await run(caller, PRINT, { config: { envs } })
      const expected = [...base, ...Object.entries(envs).map(([name, value]) => `${name}=${value}`)].sort()
      const got = toLines(stdout).sort()
      if (end?.exitCode !== 0 || got.join('\0') !== expected.join('\0')) wrong.push(`start ${index}: ${describe(got, expected)}`)
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  return wrong
}

function toLines(output: string): string[] {
  return output.split('\0').slice(0, -1)
}

function describe(got: readonly string[], expected: readonly string[]): string {
  const more = got.filter((line) => !expected.includes(line))
  const missing = expected.filter((line) => !got.includes(line))
  return JSON.stringify({ more: more.slice(0, 3), missing: missing.slice(0, 3) })
}
