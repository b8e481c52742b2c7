import { setTimeout as delay } from 'node:timers/promises'
import type { Daemon } from './daemon.ts'
import { OutputLines } from './output-lines.ts'
import { runShell, type CommandOutcome, type ShellCommand } from './run-shell.ts'
import { startProcess, type DaemonProcessEvent, type ProcessOutput } from './start-process.ts'

export interface ReadinessRequest {
  /** What stays running. */
  readonly start?: ShellCommand | undefined
  /** Asked until it succeeds. */
  readonly ready?: ShellCommand | undefined
}

export interface ReadinessOptions {
  /** Between two tries; `tries` counts those that were made. */
  readonly pauseMs: (tries: number) => number
  readonly onLine?: (source: 'start' | 'ready', stream: ProcessOutput, line: string) => void
  /** The start command runs, or there is none, and the ready command is about to be asked. */
  readonly onWaiting?: () => void
  readonly signal: AbortSignal
}

/** The start command has failed before it was ready. */
export class StartCommandError extends Error {
  override readonly name = 'StartCommandError'
}

/**
 * Starts a command in the background and waits until it is ready (control-plane.md 11.6). It goes on when this returns, and what it
 * prints from then on is dropped. One that ends with 0 is taken for one that went into the background by itself.
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

/** Resolves once it runs. `failed` rejects when it ends badly, and else never settles. */
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
  throw new Error('the daemon told no end of the start command')
}

async function untilReady(daemon: Daemon, ready: ShellCommand, { onLine, pauseMs, signal }: ReadinessOptions): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const { exitCode } = await runShell(daemon, ready, { onLine: (stream, line) => onLine?.('ready', stream, line), signal })
    if (exitCode === 0) return
    await delay(pauseMs(tries), undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}
