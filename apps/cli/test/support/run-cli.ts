import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { join } from 'node:path'

const MAIN = join(import.meta.dirname, '../../src/main.ts')

export interface CliRun {
  readonly args: readonly string[]
  /** All of it: nothing of the environment of the test. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly input?: string
  /** Sends SIGINT when it resolves. */
  readonly interrupt?: Promise<void>
}

export interface CliResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command line as a process of its own, without a terminal, to its end. */
export async function runCli({ args, env, cwd, input = '', interrupt }: CliRun): Promise<CliResult> {
  const child = spawn(process.execPath, [MAIN, ...args], { env: { PATH: process.env['PATH'], HOME: cwd, ...env }, cwd })
  const ended = once(child, 'close') as Promise<[number | null]>
  // It may end before it has read its input.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  void interrupt?.then(() => child.kill('SIGINT'))
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { code, stdout, stderr }
}
