import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { openPipe, setThreadIoPriority } from '../sys/libc.ts'
import type { Account } from '../users/account-database.ts'
import { asAccount } from './as-account.ts'
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

/** How a process ended: with an exit code, or by a signal's name. */
export type ProcessExit = { readonly code: number } | { readonly signal: NodeJS.Signals }

export interface SpawnedProcess {
  readonly pid: number
  /** Our ends of the pipes, for the caller to close. */
  readonly stdin: number | undefined
  readonly stdout: number
  readonly stderr: number
  readonly exited: Promise<ProcessExit>
}

interface Pipes {
  readonly stdin: ReturnType<typeof openPipe> | undefined
  readonly stdout: ReturnType<typeof openPipe>
  readonly stderr: ReturnType<typeof openPipe>
}

let script: string | undefined

// Children have it from this thread. A helper program for each of them would cost as much again as the command itself.
setThreadIoPriority()

/**
 * Starts a process with pipes for its standard streams. They are real pipes: Node's own are sockets, in which a child cannot open
 * `/dev/stdout`. No other descriptor of the daemon is open in it, and it shares the daemon's session and process group (envd.md 8.4, 8.5).
 *
 * @throws the system error of the fork, of entering the directory or of executing the shell
 */
export async function spawnPipes(options: SpawnOptions): Promise<SpawnedProcess> {
  const pipes = openPipes(options.stdin)
  const { stdin, stdout, stderr } = pipes
  try {
    const child = asAccount(options.account, () =>
      spawn('/bin/sh', ['-c', (script ??= readWrapperScript()), '--', options.cmd, ...options.args], {
        cwd: options.cwd,
        env: options.env,
        stdio: [stdin?.read ?? 'ignore', stdout.write, stderr.write],
      }),
    )
    const exited = new Promise<ProcessExit>((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code, signal) => resolve(signal === null ? { code: code ?? 0 } : { signal }))
    })
    // Node reports some failures by an event in place of an exception; then there is no pid.
    if (child.pid === undefined) return await exited.then(() => Promise.reject(new Error('no process was started')))
    closeAll([stdin?.read, stdout.write, stderr.write])
    return { pid: child.pid, stdin: stdin?.write, stdout: stdout.read, stderr: stderr.read, exited }
  } catch (error) {
    closeAll([stdin?.read, stdin?.write, stdout.read, stdout.write, stderr.read, stderr.write])
    throw error
  }
}

function openPipes(withStdin: boolean): Pipes {
  const opened: ReturnType<typeof openPipe>[] = []
  try {
    const stdout = openPipe()
    opened.push(stdout)
    const stderr = openPipe()
    opened.push(stderr)
    return { stdout, stderr, stdin: withStdin ? openPipe() : undefined }
  } catch (error) {
    closeAll(opened.flatMap(({ read, write }) => [read, write]))
    throw error
  }
}

function closeAll(fds: readonly (number | undefined)[]): void {
  for (const fd of fds) if (fd !== undefined) closeSync(fd)
}
