import { closeSync } from 'node:fs'
import { openPipe, setThreadIoPriority, spawnFile, spawnFileAs, type SpawnFileOptions } from '../sys/libc.ts'
import { openPseudoTerminal, type TerminalSize } from '../sys/pseudo-terminal.ts'
import type { Account } from '../users/account-database.ts'
import { asAccount, entirelyAsAccount } from './as-account.ts'
import { exitOf, type ProcessExit } from './child-exits.ts'
import { withChildLimits } from './child-limits.ts'
import type { Pipes } from './pipe-streams.ts'

export interface SpawnOptions {
  readonly cmd: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** An absolute path; whether it may be entered is the account's own right. */
  readonly cwd: string
  readonly account: Account
  /** A terminal, or pipes, where without input the process reads end of file at once. */
  readonly link: { readonly terminal: TerminalSize } | { readonly stdin: boolean }
}

export interface SpawnedProcess {
  readonly pid: number
  /** Our ends, for the caller to close. */
  readonly link: Pipes | { readonly master: number }
  readonly exited: Promise<ProcessExit>
}

const SHELL = '/bin/sh'
/** Becomes the command, which is looked up in the process's own PATH; shells differ in what they make of one without a name. */
const SCRIPT = `[ -n "$1" ] || { echo '--: exec: : not found' >&2; exit 127; }; exec "$@"`

// Children have it from this thread. A helper program for each of them would cost as much again as the command itself.
setThreadIoPriority()

/**
 * Starts a process with pipes or a terminal for its standard streams. They are the account's, and the pipes are real ones: a child cannot
 * open `/dev/stdout` where that is a socket, as with Node, or somebody else's. No other descriptor of the daemon is open in it. With pipes it
 * shares the daemon's session and process group, with a terminal it leads a session that the terminal controls (envd.md 8.4, 8.5).
 *
 * @throws the system error of the start, of entering the directory or of executing the shell
 */
export function spawn(options: SpawnOptions): SpawnedProcess {
  const opened: number[] = []
  try {
    return withChildLimits(() =>
      'terminal' in options.link
        ? spawnOnTerminal(options, options.link.terminal, opened)
        : spawnOnPipes(options, options.link.stdin, opened),
    )
  } catch (error) {
    closeAll(opened)
    throw error
  }
}

/** Ends a process that nobody can talk to, and closes our ends. */
export function discard({ pid, link }: SpawnedProcess): void {
  process.kill(pid, 'SIGKILL')
  closeAll('master' in link ? [link.master] : [link.stdin, link.stdout, link.stderr])
}

function spawnOnPipes(options: SpawnOptions, wantsInput: boolean, opened: number[]): SpawnedProcess {
  function pipe(): ReturnType<typeof openPipe> {
    const ends = openPipe()
    opened.push(ends.read, ends.write)
    return ends
  }
  const [stdout, stderr, stdin] = asAccount(options.account, () => [pipe(), pipe(), wantsInput ? pipe() : undefined] as const)
  const pid = spawnCommand(options, [stdin?.read, stdout.write, stderr.write])
  const exited = exitOf(pid)
  closeAll([stdin?.read, stdout.write, stderr.write])
  return { pid, link: { stdin: stdin?.write, stdout: stdout.read, stderr: stderr.read }, exited }
}

function spawnOnTerminal(options: SpawnOptions, size: TerminalSize, opened: number[]): SpawnedProcess {
  const { master, path } = asAccount(options.account, () => openPseudoTerminal(size))
  opened.push(master)
  const pid = spawnCommand(options, path)
  return { pid, link: { master }, exited: exitOf(pid) }
}

/**
 * A command with a path is executed as it is; any other, and one that cannot be, by way of a shell (envd.md 8.3): the pid stays, arguments
 * are never parsed again, and what cannot be run is a process that says so and exits with 127 or 126.
 */
function spawnCommand({ cmd, args, env, cwd, account }: SpawnOptions, stdio: SpawnFileOptions['stdio']): number {
  const argv = [cmd, ...args]
  const environment = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const itself = cmd.includes('/') ? spawnFileAs(account, cmd, { environment, cwd, stdio, argv }) : undefined
  const byShell = { environment, cwd, stdio, argv: [SHELL, '-c', SCRIPT, '--', ...argv] }
  // The last one fails for the same reason as the others, and says it.
  return itself ?? spawnFileAs(account, SHELL, byShell) ?? entirelyAsAccount(account, () => spawnFile(SHELL, byShell))
}

function closeAll(fds: readonly (number | undefined)[]): void {
  for (const fd of fds) if (fd !== undefined) closeSync(fd)
}
