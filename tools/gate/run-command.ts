import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'

export const ROOT = join(import.meta.dirname, '../..')

export interface CommandOptions {
  readonly timeoutMs: number
  readonly environment?: Readonly<Record<string, string>>
  /** Shows the output as it is printed; otherwise it is only returned. */
  readonly isLive?: boolean
}

export interface CommandResult {
  readonly ok: boolean
  readonly output: string
  readonly isLate: boolean
}

const DRAIN_MS = 2000

/** Programs that tests start, many times, keep the compiled form of their modules here. */
const COMPILE_CACHE = join(ROOT, '.tools/compile-cache')

const running = new Set<number>()

/** Ends every command in progress, with all processes that it started. */
export function endCommands(): void {
  for (const pid of running) killGroup(pid)
}

/** Runs a tool of the project in the repository, in its own process group, which ends with it or after `timeoutMs`. Never throws. */
export async function runCommand(program: string, args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  const { timeoutMs, environment = {}, isLive = false } = options
  const { promise, resolve } = Promise.withResolvers<CommandResult>()
  const child = spawn(program, args, {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      PATH: `${join(ROOT, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`,
      FORCE_COLOR: '0',
      NO_COLOR: '1',
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...environment,
    },
  })
  let output = ''
  let isLate = false
  const take = (chunk: string): void => {
    output += chunk
    if (isLive) process.stdout.write(chunk)
  }
  child.stdout.setEncoding('utf8').on('data', take)
  child.stderr.setEncoding('utf8').on('data', take)
  if (child.pid !== undefined) running.add(child.pid)
  const timer = setTimeout(() => {
    isLate = true
    if (child.pid !== undefined) killGroup(child.pid)
  }, timeoutMs)
  const finish = (ok: boolean): void => {
    clearTimeout(timer)
    if (child.pid !== undefined) running.delete(child.pid)
    resolve({ ok, output, isLate })
  }
  child.once('error', (err) => {
    output += `${program}: ${err.message}\n`
    finish(false)
  })
  // The pipes close shortly after the exit, or never: a process that a test left behind may keep them open.
  child.once('exit', (code) => setTimeout(() => finish(code === 0), DRAIN_MS).unref())
  child.once('close', (code) => finish(code === 0))
  return promise
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The group has ended.
  }
}
