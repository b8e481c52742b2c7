import type { CliParts } from '../cli-parts.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import type { ProcessEnd } from './exit-status.ts'
import { followProcess } from './follow-process.ts'
import type { Daemon } from './open-daemon.ts'
import { ProcessInput } from './process-input.ts'
import { writeOut } from './write-out.ts'

export interface TerminalProcess {
  readonly cmd: string
  readonly args: readonly string[]
  readonly cwd?: string
  readonly envs?: Readonly<Record<string, string>>
}

const DEFAULT_SIZE = { cols: 80, rows: 24 }

/** Before anything is changed for a command that could not run. @throws CliFailure `usage` */
export function requireTerminal({ stdin, output }: CliParts): void {
  if (stdin.isTTY && output.stdout.isTTY) return
  throw new CliFailure(EXIT.usage, 'This command needs a terminal; `sandyard exec` without --tty runs without one.')
}

/** Runs a process on a terminal of the sandbox that is shown on this one. Keys go to it unchanged, Ctrl-C too. Needs a terminal. @throws CliFailure */
export async function runInTerminal(parts: CliParts, daemon: Daemon, { cmd, args, cwd, envs = {} }: TerminalProcess): Promise<ProcessEnd> {
  const { stdin, output, environment } = parts
  const { stdout } = output
  const size = (): { cols: number; rows: number } => ({ cols: stdout.columns || DEFAULT_SIZE.cols, rows: stdout.rows || DEFAULT_SIZE.rows })
  let input: ProcessInput | undefined
  let pid = 0
  const onKeys = (bytes: Buffer): void => void input?.send(bytes)
  const onResize = (): void => {
    const process = { selector: { case: 'pid', value: pid } } as const
    // It has ended meanwhile, which its stream tells.
    daemon.process.update({ process, pty: { size: size() } }).catch(() => undefined)
  }
  const request = {
    process: {
      cmd,
      args: [...args],
      ...(cwd !== undefined && { cwd }),
      envs: { TERM: environment['TERM'] ?? 'xterm-256color', LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', ...envs },
    },
    pty: { size: size() },
  }
  const onStart = (started: number): void => {
    pid = started
    input = new ProcessInput(daemon, pid, 'pty')
    stdin.setRawMode(true)
    stdin.on('data', onKeys)
    stdin.resume()
    stdout.on('resize', onResize)
    // The window may have changed since the request.
    onResize()
  }
  try {
    return await followProcess(parts, daemon, { request, onStart, onOutput: (bytes) => writeOut(stdout, bytes) })
  } finally {
    stdout.off('resize', onResize)
    stdin.off('data', onKeys)
    stdin.setRawMode(false)
    stdin.pause()
  }
}
