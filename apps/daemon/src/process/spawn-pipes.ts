import { closeSync } from 'node:fs'
import { openPipe, setThreadIoPriority, spawnFile, type SpawnFileOptions } from '../sys/libc.ts'
import type { Account } from '../users/account-database.ts'
import { asAccount } from './as-account.ts'
import { exitOf, type ProcessExit } from './child-exits.ts'
import { withChildLimits } from './child-limits.ts'

export interface SpawnOptions {
  readonly cmd: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** An absolute path; whether it may be entered is the account's own right. */
  readonly cwd: string
  readonly account: Account
  /** False: the process reads end of file at once. */
  readonly stdin: boolean
}

export interface SpawnedProcess {
  readonly pid: number
  /** Our ends of the pipes, for the caller to close. */
  readonly stdin: number | undefined
  readonly stdout: number
  readonly stderr: number
  readonly exited: Promise<ProcessExit>
}

const SHELL = '/bin/sh'
/** Becomes the command, which is looked up in the process's own PATH; shells differ in what they make of one without a name. */
const SCRIPT = `[ -n "$1" ] || { echo '--: exec: : not found' >&2; exit 127; }; exec "$@"`

// Children have it from this thread. A helper program for each of them would cost as much again as the command itself.
setThreadIoPriority()

/**
 * Starts a process with pipes for its standard streams. They are real pipes, and the account's: a child cannot open `/dev/stdout` where that
 * is a socket, as with Node, or somebody else's. No other descriptor of the daemon is open in it, and it shares the daemon's session and
 * process group (envd.md 8.4, 8.5).
 *
 * @throws the system error of the start, of entering the directory or of executing the shell
 */
export function spawnPipes(options: SpawnOptions): SpawnedProcess {
  const opened: number[] = []
  try {
    return withChildLimits(() => asAccount(options.account, () => spawnAsSelf(options, opened)))
  } catch (error) {
    closeAll(opened)
    throw error
  }
}

function spawnAsSelf({ cmd, args, env, cwd, stdin: wantsInput }: SpawnOptions, opened: number[]): SpawnedProcess {
  function pipe(): ReturnType<typeof openPipe> {
    const ends = openPipe()
    opened.push(ends.read, ends.write)
    return ends
  }
  const [stdout, stderr, stdin] = [pipe(), pipe(), wantsInput ? pipe() : undefined]
  const environment = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const pid = spawnCommand([cmd, ...args], { environment, cwd, stdio: [stdin?.read, stdout.write, stderr.write] })
  const exited = exitOf(pid)
  closeAll([stdin?.read, stdout.write, stderr.write])
  return { pid, stdin: stdin?.write, stdout: stdout.read, stderr: stderr.read, exited }
}

/**
 * A command with a path is executed as it is; any other, and one that cannot be, by way of a shell (envd.md 8.3): the pid stays, arguments
 * are never parsed again, and what cannot be run is a process that says so and exits with 127 or 126.
 */
function spawnCommand(command: readonly string[], options: Omit<SpawnFileOptions, 'argv'>): number {
  const [file = ''] = command
  if (file.includes('/')) {
    try {
      return spawnFile(file, { ...options, argv: command })
    } catch {
      // The shell fails for the same reason, or says why the command cannot be run.
    }
  }
  return spawnFile(SHELL, { ...options, argv: [SHELL, '-c', SCRIPT, '--', ...command] })
}

function closeAll(fds: readonly (number | undefined)[]): void {
  for (const fd of fds) if (fd !== undefined) closeSync(fd)
}
