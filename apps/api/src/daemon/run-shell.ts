import { setTimeout as delay } from 'node:timers/promises'
import { randomId } from '@sandyard/kit/ids/ids'
import type { Daemon } from './daemon.ts'
import { OutputLines } from './output-lines.ts'
import { startProcess, type ProcessOutput } from './start-process.ts'

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
  /** Awaited from time to time, so that output comes no faster than it can be kept. */
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
 * Says on both outputs that the command itself has ended, behind all that it printed: what it left running may hold them open for ever.
 * The words are the command's line and a mark that no command knows before. What this shell has to say of it itself is for nobody.
 */
const SCRIPT =
  'exec 3>&2 2>&-; /bin/bash -l -c "$2" 2>&3 3>&-; e=$?; printf "\\000%s %d\\n" "$1" "$e"; printf "\\000%s %d\\n" "$1" "$e" >&3; exit "$e"'
/** Other shells than bash drop variables like `app.name`. With `-p` it leaves BASH_ENV and the like to the command's own shell. */
const SHELL = { cmd: '/bin/bash', args: ['-p', '-c', SCRIPT, 'sh'] } as const
const MARK_LENGTH = 24

/** Far more than what people read, and slow enough that nobody is kept from other work by it. */
const PACE = { bytes: 128 * 1024, pauseMs: 25 } as const

/**
 * Runs a command in a login shell and returns when it has ended, whatever it left running in the background.
 *
 * @throws DaemonCallError, with `deadline_exceeded` after `timeoutMs`; the abort reason, and then the command may go on
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
  throw new Error('the daemon told no end of the process')
}

/** Takes the lines apart from the marks of the end. */
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

  /** Defined once both outputs have come to the end. */
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
