import { stat } from 'node:fs/promises'
import type { ProcessConfig, StartRequest } from '@sandyard/daemon-protocol/process/process_pb'
import { AppError } from '@sandyard/kit/errors/app-error'
import { errnoCode, errnoText } from '../sys/errno-text.ts'
import type { AccountDatabase } from '../users/account-database.ts'
import { type Caller, getCaller } from '../users/caller.ts'
import { resolvePath } from '../users/resolve-path.ts'
import type { DaemonState } from '../init/daemon-state.ts'
import type { StreamCall } from '../rpc/stream-call.ts'
import { loginEnv } from './login-env.ts'
import { ManagedProcess } from './managed-process.ts'
import type { ProcessTable } from './process-table.ts'
import type { ProcessEvent } from './process-event.ts'
import { relay } from './relay.ts'
import type { SpawnedProcess } from './spawn-pipes.ts'

export interface StartDeps {
  readonly state: DaemonState
  readonly accounts: AccountDatabase
  readonly processes: ProcessTable
  /** Where commands are looked up unless a variable says otherwise. */
  readonly path: string
}

/**
 * Start (envd.md 8.2). The process belongs to nobody once it runs: it outlives the stream, and only the time that the call names ends it.
 *
 * @throws AppError before the start event when there is no process
 */
export async function start(request: StartRequest, call: StreamCall, deps: StartDeps): Promise<AsyncIterable<ProcessEvent>> {
  // Refused rather than run with pipes, which a program that asks for a terminal would take for a broken one (docs/compatibility.md).
  if (request.pty !== undefined) throw new AppError('unimplemented', 'terminals are not implemented')
  if (request.process === undefined) throw new AppError('invalid_argument', 'process is required')
  const caller = await getCaller(deps.accounts, call.basicUser, deps.state)
  const spawned = await spawnFor(request.process, caller, { ...deps, stdin: request.stdin ?? true })
  const process = new ManagedProcess(spawned, {
    config: request.process,
    tag: request.tag,
    lifetimeMs: call.timeoutMs ?? 0,
    onEnd: (ended, end) => deps.processes.retire(ended, end),
  })
  const subscription = process.subscribe()
  deps.processes.add(process)
  return relay(process.pid, subscription, call)
}

async function spawnFor(config: ProcessConfig, caller: Caller, options: StartDeps & { readonly stdin: boolean }): Promise<SpawnedProcess> {
  const cwd = resolvePath(config.cwd ?? '', caller)
  const failed = async (reason: string, cause?: unknown): Promise<never> => {
    await refuseMissing(cwd)
    throw new AppError('invalid_argument', `error starting process '${[config.cmd, ...config.args].join(' ')}': ${reason}`, { cause })
  }
  if (hasNul(Object.entries(config.envs).flat())) return failed('exec: environment variable contains NUL')
  if (hasNul([config.cmd, ...config.args])) return failed('fork/exec /bin/sh: invalid argument')
  const { spawnPipes } = await import('./spawn-pipes.ts')
  try {
    return spawnPipes({
      cmd: config.cmd,
      args: config.args,
      cwd,
      account: caller.user,
      env: loginEnv({ account: caller.user, path: options.path, global: options.state.variables, own: config.envs }),
      stdin: options.stdin,
    })
  } catch (error) {
    return failed(`fork/exec /bin/sh: ${errnoText(error)}`, error)
  }
}

/** A directory that is not there is told apart from what else may be wrong with it, though the account may not even know. */
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
