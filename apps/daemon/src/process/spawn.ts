import { closeSync, openSync } from 'node:fs'
import { constants } from 'node:os'
import { resultWithin } from '@sandyard/kit/async/within'
import { loadOnce } from '@sandyard/kit/async/load-once'
import { loadCLibrary } from '../sys/c-library.ts'
import { errnoCode, systemError } from '../sys/errno-text.ts'
import { loadTerminals } from '../sys/pseudo-terminal.ts'
import { Spawn, type SpawnCall, type SpawnOutcome } from '../sys/spawn.ts'
import { setThreadIoPriority } from '../sys/thread-identity.ts'
import type { Account } from '../users/account-database.ts'
import { exitOf, type ProcessExit } from './child-exits.ts'
import { ChildLimits } from './child-limits.ts'
import { type Link, type LinkRequest, openLink } from './open-link.ts'
import type { StartCounts } from './start-counts.ts'

interface SpawnOptions {
  readonly cmd: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** An absolute path, entered with the rights of the account. */
  readonly cwd: string
  readonly account: Account
  readonly link: LinkRequest
}

export interface SpawnedProcess {
  readonly pid: number
  /** The daemon's ends. The caller closes them. */
  readonly link: Link['own']
  readonly exited: Promise<ProcessExit>
  /** Kills the process, if the caller cannot use it. */
  discard(): void
}

const SHELL = '/bin/sh'
/** Executes the command, looked up in the process's own PATH. Handles an empty name itself, because shells differ there. */
const SCRIPT = `[ -n "$1" ] || { echo '--: exec: : not found' >&2; exit 127; }; exec "$@"`

/**
 * Errors for which the command is started through a shell: the shell reports them with exit code 127 or 126, and runs scripts without an
 * interpreter line (ENOEXEC). Entering the directory may fail with the same errors: then the shell fails too. `errno 80` is ELIBBAD.
 */
const NOT_EXECUTABLE: ReadonlySet<string> = new Set([
  'EACCES',
  'EINVAL',
  'ELOOP',
  'ENAMETOOLONG',
  'ENOENT',
  'ENOEXEC',
  'ENOTDIR',
  'EPERM',
  'ETXTBSY',
  'errno 80',
])

/** How long the event loop waits for a start. Most take a millisecond; a longer one, e.g. of a program on a slow disk, continues in the background. */
const PATIENCE_MS = 25
/** A start that takes longer fails: the file system of the program or the directory does not answer. */
const DEADLINE_MS = 10_000
/** The most failed starts whose thread and process still wait in the kernel. */
const MOST_STUCK = 64

/** Loads and opens what starts need, before the first one. */
export const loadSpawner = loadOnce(async () => {
  await loadCLibrary()
  // Children inherit it from this thread. A helper program for each child would double the cost of a short command.
  setThreadIoPriority()
  // Opened once: a later replacement of the file in the sandbox, e.g. by a FIFO, must not block the daemon.
  const noInput = openSync('/dev/null', 'r')
  try {
    return new Spawner(new ChildLimits(), noInput)
  } catch (error) {
    closeSync(noInput)
    throw error
  }
})

/** Starts processes. */
class Spawner {
  readonly #limits: ChildLimits
  readonly #noInput: number

  constructor(limits: ChildLimits, noInput: number) {
    this.#limits = limits
    this.#noInput = noInput
  }

  /**
   * Starts a process with pipes or a terminal for its standard streams. They belong to the account, and no other descriptor of the daemon
   * is open in the process. With pipes it shares the daemon's session and process group; with a terminal it leads a session that the
   * terminal controls (envd.md 8.4, 8.5).
   *
   * @throws the system error of the start, of entering the directory or of executing the shell
   */
  async spawn(options: SpawnOptions, counts: StartCounts): Promise<SpawnedProcess> {
    if ('terminal' in options.link) await loadTerminals()
    const link = openLink(options.link, options.account, this.#noInput)
    try {
      const pid = await this.#startCommand(options, link.stdio, counts)
      const exited = exitOf(pid)
      return { pid, link: link.own, exited, discard: () => discard(pid) }
    } catch (error) {
      link.closeOwn()
      throw error
    } finally {
      link.closeOther()
    }
  }

  /**
   * A command with a path is executed directly; any other, and one that fails to execute, through a shell (envd.md 8.3). The pid is that of the
   * shell, arguments are not parsed again, and a command that cannot be run becomes a process that reports this and exits with 127 or 126.
   */
  async #startCommand({ cmd, args, env, cwd, account }: SpawnOptions, stdio: SpawnCall['stdio'], counts: StartCounts): Promise<number> {
    const environment = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    const argv = [cmd, ...args]
    const common = { identity: account, environment, cwd, stdio }
    if (cmd.includes('/')) {
      const outcome = await this.#start({ ...common, file: cmd, argv }, counts)
      if ('pid' in outcome) return outcome.pid
      const reason = errnoCode(outcome.failure)
      if (!NOT_EXECUTABLE.has(reason)) throw outcome.failure
      counts.wentToShell(reason)
    }
    const outcome = await this.#start({ ...common, file: SHELL, argv: [SHELL, '-c', SCRIPT, '--', ...argv] }, counts)
    if ('pid' in outcome) return outcome.pid
    throw outcome.failure
  }

  async #start(call: SpawnCall, counts: StartCounts): Promise<SpawnOutcome> {
    if (counts.stuckNow >= MOST_STUCK) throw systemError('posix_spawn', constants.errno.EAGAIN)
    using start = new Spawn(call)
    const outcome = this.#limits.during(() => start.run(PATIENCE_MS))
    if (outcome !== undefined) return outcome
    const ended = start.ended()
    const late = await resultWithin(DEADLINE_MS, ended)
    if (late === undefined) {
      counts.stuck(1)
      void ended.then(endUnwanted).finally(() => counts.stuck(-1))
      throw systemError('posix_spawn', constants.errno.ETIMEDOUT)
    }
    if ('pid' in late) this.#imposeLimits(late.pid, call.identity, counts)
    return late
  }

  #imposeLimits(pid: number, identity: SpawnCall['identity'], counts: StartCounts): void {
    try {
      this.#limits.imposeOn(pid, identity)
    } catch (error) {
      counts.limitsFailed(errnoCode(error) || 'unknown')
    }
  }
}

function discard(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // It has ended.
    if (errnoCode(error) !== 'ESRCH') throw error
  }
}

/** Kills the process of a start that has already failed, if it starts after all because the file system answers. */
function endUnwanted(outcome: SpawnOutcome): void {
  if (!('pid' in outcome)) return
  // The signal first: after the process has been reaped its pid may belong to another one.
  process.kill(outcome.pid, 'SIGKILL')
  void exitOf(outcome.pid)
}
