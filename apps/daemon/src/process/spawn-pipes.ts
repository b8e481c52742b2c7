import { closeSync } from 'node:fs'
import { openPipe, setThreadIoPriority, spawnFile } from '../sys/libc.ts'
import type { Account } from '../users/account-database.ts'
import { asAccount } from './as-account.ts'
import { exitOf, type ProcessExit } from './child-exits.ts'
import { readWrapperScript } from './wrapper-script.ts'

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
const script = readWrapperScript()

// Children have it from this thread. A helper program for each of them would cost as much again as the command itself.
setThreadIoPriority()

/**
 * Starts a process with pipes for its standard streams. They are real pipes: Node's own are sockets, in which a child cannot open
 * `/dev/stdout`. No other descriptor of the daemon is open in it, and it shares the daemon's session and process group (envd.md 8.4, 8.5).
 *
 * @throws the system error of the start, of entering the directory or of executing the shell
 */
export function spawnPipes({ cmd, args, env, cwd, account, stdin: wantsInput }: SpawnOptions): SpawnedProcess {
  const opened: number[] = []
  function pipe(): ReturnType<typeof openPipe> {
    const ends = openPipe()
    opened.push(ends.read, ends.write)
    return ends
  }
  try {
    const [stdout, stderr, stdin] = [pipe(), pipe(), wantsInput ? pipe() : undefined]
    const pid = asAccount(account, () =>
      spawnFile(SHELL, {
        argv: [SHELL, '-c', script, '--', cmd, ...args],
        environment: Object.entries(env).map(([name, value]) => `${name}=${value}`),
        cwd,
        stdio: [stdin?.read, stdout.write, stderr.write],
      }),
    )
    const exited = exitOf(pid)
    closeAll([stdin?.read, stdout.write, stderr.write])
    return { pid, stdin: stdin?.write, stdout: stdout.read, stderr: stderr.read, exited }
  } catch (error) {
    closeAll(opened)
    throw error
  }
}

function closeAll(fds: readonly (number | undefined)[]): void {
  for (const fd of fds) if (fd !== undefined) closeSync(fd)
}
