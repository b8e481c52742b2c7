import { setTimeout as delay } from 'node:timers/promises'
import { randomId } from '@sandyard/kit/ids/ids'
import type { Daemon } from './daemon.ts'
import { OutputLines } from './output-lines.ts'
import type { ProcessOutput } from './process-events.ts'
import { startProcess } from './start-process.ts'

export interface ShellCommand {
  readonly command: string
  /** Undefined: the daemon's default user. */
  readonly user?: string | undefined
  /** Undefined: the daemon's default directory, else the user's home. */
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>>
}

export interface ShellOptions {
  readonly onLine?: (stream: ProcessOutput, line: string) => void
  /** Awaited regularly for back-pressure: limits output to the rate at which it can be stored. */
  readonly drain?: () => Promise<void>
  readonly timeoutMs?: number
  readonly signal: AbortSignal
}

/** How a command ended: `exit status 1`, or `signal: killed` with -1. */
export interface CommandOutcome {
  readonly exitCode: number
  readonly status: string
}

/**
 * Runs the command, then writes an end mark to stdout and to stderr. The reader stops at the mark, because a background process of the command
 * can keep both outputs open. The mark contains the exit status and a random part that the command cannot know. Messages of this shell are
 * discarded.
 */
const SCRIPT =
  'exec 3>&2 2>&-; /bin/bash -l -c "$2" 2>&3 3>&-; e=$?; printf "\\000%s %d\\n" "$1" "$e"; printf "\\000%s %d\\n" "$1" "$e" >&3; exit "$e"'
/**
 * Other shells drop variables such as `app.name`. With `-p` this bash ignores BASH_ENV and similar variables; the command's own shell reads
 * them.
 */
const SHELL = { cmd: '/bin/bash', args: ['-p', '-c', SCRIPT, 'sh'] } as const
const MARK_LENGTH = 24

/** Far more than people read, and slow enough to leave the event loop free for other work. */
const PACE = { bytes: 128 * 1024, pauseMs: 25 } as const

/**
 * Runs a command in a login shell and returns when it has ended, even if it left background processes running.
 *
 * @throws DaemonCallError, with `deadline_exceeded` after `timeoutMs`; the abort reason; the command may still run then
 */
export async function runShell(daemon: Daemon, request: ShellCommand, options: ShellOptions): Promise<CommandOutcome> {
  const { command, ...as } = request
  const { timeoutMs, signal } = options
  const mark = randomId(MARK_LENGTH)
  const watch = new EndWatch(mark, options.onLine)
  const process = { cmd: SHELL.cmd, args: [...SHELL.args, mark, command], ...as, ...(timeoutMs !== undefined && { timeoutMs }) }
  const pace = pacer(options.drain, signal)
  for await (const event of startProcess(daemon, process, signal)) {
    if (event.kind === 'end') return watch.ended ?? event
    if (event.kind !== 'output') continue
    watch.push(event.stream, event.bytes)
    if (watch.ended !== undefined) return watch.ended
    await pace(event.bytes.length)
  }
  throw new Error('the daemon did not report the end of the process')
}

/** Separates the lines from the end marks. */
class EndWatch {
  readonly #lines: Readonly<Record<ProcessOutput, OutputLines>>
  readonly #codes = new Map<ProcessOutput, number>()

  constructor(mark: string, onLine: ShellOptions['onLine']) {
    const linesOf = (stream: ProcessOutput): OutputLines =>
      new OutputLines((line) => {
        if (line.startsWith(`${mark} `)) this.#codes.set(stream, Number(line.slice(mark.length + 1)))
        else if (!this.#codes.has(stream)) onLine?.(stream, line)
      })
    this.#lines = { stdout: linesOf('stdout'), stderr: linesOf('stderr') }
  }

  push(stream: ProcessOutput, bytes: Uint8Array): void {
    this.#lines[stream].push(bytes)
  }

  /** Defined once both outputs have ended. */
  get ended(): CommandOutcome | undefined {
    const [stdout, stderr] = [this.#codes.get('stdout'), this.#codes.get('stderr')]
    return stdout === undefined || stderr === undefined ? undefined : { exitCode: stdout, status: `exit status ${stdout}` }
  }
}

function pacer(drain: ShellOptions['drain'], signal: AbortSignal): (bytes: number) => Promise<void> {
  let since = 0
  return async (bytes) => {
    since += bytes
    if (since < PACE.bytes) return
    since = 0
    await drain?.()
    await delay(PACE.pauseMs, undefined, { signal }).catch(() => undefined)
  }
}
