import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { findProgram } from './find-program.ts'

export interface StepOptions {
  readonly timeoutMs: number
  readonly onLine?: (line: string) => void
}

export interface StepResult {
  readonly ok: boolean
  /** The last lines of what the command printed, both streams. */
  readonly tail: string
}

const KEPT_LINES = 40

/** Runs a set-up command without a terminal, keeps the end of its output, and ends it after `timeoutMs`. Never throws. */
export async function runStep(command: string, args: readonly string[], { timeoutMs, onLine }: StepOptions): Promise<StepResult> {
  const { promise, resolve } = Promise.withResolvers<StepResult>()
  const lines: string[] = []
  const child = spawn(findProgram(command) ?? command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    // oxlint-disable-next-line node/no-process-env -- the command needs the environment as it is, and no questions
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', NEEDRESTART_MODE: 'l', LC_ALL: 'C' },
  })
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      if (lines.push(line) > KEPT_LINES) lines.shift()
      onLine?.(line)
    })
  }
  child.on('error', (err) => resolve({ ok: false, tail: err.message }))
  child.on('close', (code, signal) => {
    if (signal === 'SIGTERM') lines.push(`${command} took longer than ${Math.round(timeoutMs / 1000)} s`)
    resolve({ ok: code === 0, tail: lines.join('\n') })
  })
  return promise
}

/** The last line of a command's output that is not empty, for a one-sentence report. */
export function lastLine(tail: string): string {
  return (
    tail
      .split('\n')
      .map((line) => line.trim())
      .findLast((line) => line !== '') ?? 'it printed nothing'
  )
}
