import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { findProgram } from './find-program.ts'

export interface StepOptions {
  readonly timeoutMs: number
  readonly onLine?: (line: string) => void
  /** Beside the environment of this process. */
  readonly env?: Readonly<Record<string, string>>
  /** How long the command may take to end after the request to end; then it is killed. */
  readonly endMs?: number
}

export interface StepResult {
  readonly ok: boolean
  /** The last lines of the command's output, both streams. */
  readonly tail: string
}

const KEPT_LINES = 40
const DEFAULT_END_MS = 5000
/** How long output is read after the command has ended. A service that it started may keep the pipes open. */
const LAST_OUTPUT_MS = 1000
/** Our own settings, some of which are secrets. A set-up command may start services that outlive it. */
const OWN_SETTINGS = /^(?:SANDYARD_|DATABASE_(?:DIRECT_)?URL)/

/** Runs a set-up command without a terminal, keeps the end of its output, and ends the command after `timeoutMs`. Never throws. */
export async function runStep(
  command: string,
  args: readonly string[],
  { timeoutMs, onLine, env = {}, endMs = DEFAULT_END_MS }: StepOptions,
): Promise<StepResult> {
  const { promise, resolve } = Promise.withResolvers<StepResult>()
  const lines: string[] = []
  // oxlint-disable-next-line node/no-process-env -- the command needs the rest of the environment as it is, and no questions
  const inherited = Object.entries(process.env).filter(([name]) => !OWN_SETTINGS.test(name))
  const child = spawn(findProgram(command) ?? command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...Object.fromEntries(inherited), ...env, DEBIAN_FRONTEND: 'noninteractive', NEEDRESTART_MODE: 'l', LC_ALL: 'C' },
  })
  let isLate = false
  const timers = [setTimeout(() => (isLate = child.kill('SIGTERM')), timeoutMs), setTimeout(() => child.kill('SIGKILL'), timeoutMs + endMs)]
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      if (lines.push(line) > KEPT_LINES) lines.shift()
      onLine?.(line)
    })
  }
  child.on('error', (err) => resolve({ ok: false, tail: err.message }))
  child.on('exit', () => {
    const closePipes = (): void => [child.stdout, child.stderr].forEach((stream) => stream.destroy())
    timers.push(setTimeout(closePipes, LAST_OUTPUT_MS))
  })
  child.on('close', (code) => {
    if (isLate) lines.push(`${command} took longer than ${Math.round(timeoutMs / 1000)} s`)
    resolve({ ok: code === 0, tail: lines.join('\n') })
  })
  try {
    return await promise
  } finally {
    for (const timer of timers) clearTimeout(timer)
  }
}

/** The last line of a command's output that is not empty, for a report in one sentence. */
export function lastLine(tail: string): string {
  return (
    tail
      .split('\n')
      .map((line) => line.trim())
      .findLast((line) => line !== '') ?? 'it printed nothing'
  )
}
