import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { COMPILED_MODULES } from '@sandyard/test-kit/compiled-modules'

export const MAIN = join(import.meta.dirname, '../../src/main.ts')

export interface CliRun {
  readonly args: readonly string[]
  /** All of it, with PATH and HOME: nothing else of the environment of the test, apart from Node's cache. */
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

/** A command line that runs. Disposing kills it. */
export interface RunningCli extends AsyncDisposable {
  /** What it has printed so far. */
  readonly stdout: () => string
  readonly stderr: () => string
  /** Its exit code, after all of its output was read. */
  readonly ended: Promise<number | null>
}

/** Starts the command line as a process of its own, without a terminal. */
export function startCli({ args, env, cwd, input = '', interrupt }: CliRun): RunningCli {
  const child = spawn(process.execPath, [MAIN, ...args], { env: { PATH: '/usr/bin:/bin', HOME: cwd, ...COMPILED_MODULES, ...env }, cwd })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (stderr += text))
  // It may end before it has read its input.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  void interrupt?.then(() => child.kill('SIGINT'))
  return {
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Runs the command line to its end. */
export async function runCli(run: CliRun): Promise<CliResult> {
  const cli = startCli(run)
  return { code: await cli.ended, stdout: cli.stdout(), stderr: cli.stderr() }
}
