import { stat } from 'node:fs/promises'
import type { StartRequest } from '@sandyard/daemon-protocol/process/process_pb'
import { AppError } from '@sandyard/kit/errors/app-error'
import { errnoCode, errnoText } from '../sys/errno-text.ts'
import type { AccountDatabase } from '../users/account-database.ts'
import { type Caller, getCaller } from '../users/caller.ts'
import { resolvePath } from '../users/resolve-path.ts'
import type { DaemonState } from '../init/daemon-state.ts'
import type { StreamCall } from '../rpc/stream-call.ts'
import type { LogRing } from '../logs/log-ring.ts'
import { loginEnv } from './login-env.ts'
import { ManagedProcess, type ManagedProcessOptions } from './managed-process.ts'
import { ProcessLog } from './process-log.ts'
import type { ProcessTable } from './process-table.ts'
import type { ProcessEvent } from './process-event.ts'
import { relay } from './relay.ts'
import type { LinkRequest } from './open-link.ts'
import type { StartCounts } from './start-counts.ts'

export interface StartDeps {
  readonly state: DaemonState
  readonly accounts: AccountDatabase
  readonly processes: ProcessTable
  readonly starts: StartCounts
  readonly logs: LogRing
  /** The default PATH of commands. */
  readonly path: string
}

/**
 * Start (envd.md 8.2). The process is independent of its client: it outlives the stream, and only the deadline of the call ends it.
 *
 * @throws AppError before the start event if the start fails
 */
export async function start(request: StartRequest, call: StreamCall, deps: StartDeps): Promise<AsyncIterable<ProcessEvent>> {
  if (request.process === undefined) throw new AppError('invalid_argument', 'process is required')
  const caller = await getCaller(deps.accounts, call.basicUser, deps.state)
  const { process: config, tag } = request
  const log = new ProcessLog(deps.logs, config)
  const onEnd: ManagedProcessOptions['onEnd'] = (ended, end) => {
    deps.processes.retire(ended, end)
    log.ended(ended.pid, end)
  }
  const managed = { config, tag, lifetimeMs: call.timeoutMs ?? 0, onEnd }
  const process = await spawnFor(managed, caller, { ...deps, link: toLink(request) })
  const subscription = process.subscribe()
  deps.processes.add(process)
  log.started(process.pid, caller.user.name)
  return relay(process.pid, subscription, call)
}

/** A missing size of a terminal is 0 by 0; a terminal ignores `stdin`. */
function toLink({ pty, stdin }: StartRequest): LinkRequest {
  return pty === undefined ? { stdin: stdin ?? true } : { terminal: { cols: pty.size?.cols ?? 0, rows: pty.size?.rows ?? 0 } }
}

async function spawnFor(
  managed: ManagedProcessOptions,
  caller: Caller,
  options: StartDeps & { readonly link: LinkRequest },
): Promise<ManagedProcess> {
  const { link } = options
  const { config } = managed
  const cwd = resolvePath(config.cwd ?? '', caller)
  const failed = async (reason: string, cause?: unknown): Promise<never> => {
    // A file system that may not answer is not accessed again: that would occupy a thread of the pool.
    if (!MAY_HANG.has(errnoCode(cause))) await refuseMissing(cwd)
    throw new AppError('invalid_argument', `${failurePrefix([config.cmd, ...config.args].join(' '), cwd, link)}: ${reason}`, { cause })
  }
  if (hasNul(Object.entries(config.envs).flat())) return failed('exec: environment variable contains NUL')
  if (hasNul([config.cmd, ...config.args])) return failed('fork/exec /bin/sh: invalid argument')
  try {
    const { loadSpawner } = await import('./spawn.ts')
    const spawner = await loadSpawner()
    const env = loginEnv({ account: caller.user, path: options.path, global: options.state.variables, own: config.envs })
    const spawned = await spawner.spawn({ cmd: config.cmd, args: config.args, cwd, account: caller.user, env, link }, options.starts)
    try {
      const process = new ManagedProcess(spawned, managed)
      options.starts.started()
      return process
    } catch (error) {
      spawned.discard()
      throw error
    }
  } catch (error) {
    options.starts.failed(errnoCode(error) || 'unknown')
    return failed(`fork/exec /bin/sh: ${errnoText(error)}`, error)
  }
}

/** Failures of a start that has exceeded its deadline, or that was refused because many others have. */
const MAY_HANG: ReadonlySet<string> = new Set(['EAGAIN', 'ETIMEDOUT'])

function failurePrefix(command: string, cwd: string, link: LinkRequest): string {
  if (!('terminal' in link)) return `error starting process '${command}'`
  const { cols, rows } = link.terminal
  return `error starting pty with command '${command}' in dir '${cwd}' with '${cols}' cols and '${rows}' rows`
}

/** Reports a missing directory with its own error, also if the account has no access to its parent. */
async function refuseMissing(cwd: string): Promise<void> {
  try {
    await stat(cwd)
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') throw new AppError('invalid_argument', `cwd '${cwd}' does not exist`, { cause: error })
  }
}

function hasNul(texts: readonly string[]): boolean {
  return texts.some((text) => text.includes('\0'))
}
