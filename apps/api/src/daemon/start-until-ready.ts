import { setTimeout as delay } from 'node:timers/promises'
import type { Daemon } from './daemon.ts'
import { OutputLines } from './output-lines.ts'
import { runShell, type CommandOutcome, type ShellCommand } from './run-shell.ts'
import type { DaemonProcessEvent, ProcessOutput } from './process-events.ts'
import { startProcess } from './start-process.ts'

export interface ReadinessRequest {
  /** The command that keeps running. */
  readonly start?: ShellCommand | undefined
  /** Run until it succeeds. */
  readonly ready?: ShellCommand | undefined
}

export interface ReadinessOptions {
  /** Pause between two tries; `tries` is the number of tries so far. */
  readonly pauseMs: (tries: number) => number
  readonly onLine?: (source: 'start' | 'ready', stream: ProcessOutput, line: string) => void
  /** Called before the first ready command, when the start command runs or there is none. */
  readonly onWaiting?: () => void
  readonly signal: AbortSignal
}

/** The start command failed before it was ready. */
export class StartCommandError extends Error {
  override readonly name = 'StartCommandError'
}

/**
 * Starts a command in the background and waits until it is ready (control-plane.md 11.6). The command keeps running after the return; its
 * further output is dropped. A command that exits with 0 is treated as one that moved itself to the background.
 *
 * @throws StartCommandError; DaemonCallError when the daemon refuses; the abort reason
 */
export async function startUntilReady(daemon: Daemon, request: ReadinessRequest, options: ReadinessOptions): Promise<void> {
  const { start, ready } = request
  const over = new AbortController()
  const within = { ...options, signal: AbortSignal.any([options.signal, over.signal]) }
  try {
    const started = start && (await startInBackground(daemon, start, within))
    if (ready === undefined) return
    options.onWaiting?.()
    await Promise.race([untilReady(daemon, ready, within), ...(started === undefined ? [] : [started.failed])])
  } finally {
    over.abort()
  }
}

/** Resolves once the command runs. `failed` rejects when the command fails, and otherwise never settles. */
async function startInBackground(daemon: Daemon, start: ShellCommand, options: ReadinessOptions): Promise<{ failed: Promise<never> }> {
  const { command, ...as } = start
  const events = startProcess(daemon, { cmd: '/bin/bash', args: ['-l', '-c', command], ...as }, options.signal)
  await events.next()
  const { promise: failed, reject } = Promise.withResolvers<never>()
  failed.catch(() => undefined)
  follow(events, options).then(({ exitCode, status }) => {
    if (exitCode !== 0) reject(new StartCommandError(status))
  }, reject)
  return { failed }
}

async function follow(events: AsyncIterable<DaemonProcessEvent>, { onLine }: ReadinessOptions): Promise<CommandOutcome> {
  const lines = {
    stdout: new OutputLines((line) => onLine?.('start', 'stdout', line)),
    stderr: new OutputLines((line) => onLine?.('start', 'stderr', line)),
  }
  for await (const event of events) {
    if (event.kind === 'output') lines[event.stream].push(event.bytes)
    if (event.kind !== 'end') continue
    lines.stdout.end()
    lines.stderr.end()
    return event
  }
  throw new Error('the daemon did not report the end of the start command')
}

async function untilReady(daemon: Daemon, ready: ShellCommand, { onLine, pauseMs, signal }: ReadinessOptions): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const { exitCode } = await runShell(daemon, ready, { onLine: (stream, line) => onLine?.('ready', stream, line), signal })
    if (exitCode === 0) return
    await delay(pauseMs(tries), undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}
