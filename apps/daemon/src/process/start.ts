import { stat } from 'node:fs/promises'
import type { StartRequest } from '@sandyard/daemon-protocol/process/process_pb'
import { AppError } from '@sandyard/kit/errors/app-error'
import { errnoCode, errnoText } from '../sys/errno-text.ts'
import type { AccountDatabase } from '../users/account-database.ts'
import { type Caller, getCaller } from '../users/caller.ts'
import { resolvePath } from '../users/resolve-path.ts'
import type { DaemonState } from '../init/daemon-state.ts'
import type { StreamCall } from '../rpc/stream-call.ts'
import { loginEnv } from './login-env.ts'
import { ManagedProcess, type ManagedProcessOptions } from './managed-process.ts'
import type { ProcessTable } from './process-table.ts'
import type { ProcessEvent } from './process-event.ts'
import { relay } from './relay.ts'
import type { SpawnOptions } from './spawn.ts'

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
  if (request.process === undefined) throw new AppError('invalid_argument', 'process is required')
  const caller = await getCaller(deps.accounts, call.basicUser, deps.state)
  const { process: config, tag } = request
  const onEnd: ManagedProcessOptions['onEnd'] = (ended, end) => deps.processes.retire(ended, end)
  const managed = { config, tag, lifetimeMs: call.timeoutMs ?? 0, onEnd }
  const process = await spawnFor(managed, caller, { ...deps, link: toLink(request) })
  const subscription = process.subscribe()
  deps.processes.add(process)
  return relay(process.pid, subscription, call)
}

/** A terminal without a size has none, and no use for the flag of the input. */
function toLink({ pty, stdin }: StartRequest): SpawnOptions['link'] {
  return pty === undefined ? { stdin: stdin ?? true } : { terminal: { cols: pty.size?.cols ?? 0, rows: pty.size?.rows ?? 0 } }
}

async function spawnFor(
  managed: ManagedProcessOptions,
  caller: Caller,
  options: StartDeps & Pick<SpawnOptions, 'link'>,
): Promise<ManagedProcess> {
  const { link } = options
  const { config } = managed
  const cwd = resolvePath(config.cwd ?? '', caller)
  const failed = async (reason: string, cause?: unknown): Promise<never> => {
    await refuseMissing(cwd)
    throw new AppError('invalid_argument', `${failurePrefix([config.cmd, ...config.args].join(' '), cwd, link)}: ${reason}`, { cause })
  }
  if (hasNul(Object.entries(config.envs).flat())) return failed('exec: environment variable contains NUL')
  if (hasNul([config.cmd, ...config.args])) return failed('fork/exec /bin/sh: invalid argument')
  const { spawn, discard } = await import('./spawn.ts')
  try {
    const env = loginEnv({ account: caller.user, path: options.path, global: options.state.variables, own: config.envs })
    const spawned = spawn({ cmd: config.cmd, args: config.args, cwd, account: caller.user, env, link })
    try {
      return new ManagedProcess(spawned, managed)
    } catch (error) {
      discard(spawned)
      throw error
    }
  } catch (error) {
    return failed(`fork/exec /bin/sh: ${errnoText(error)}`, error)
  }
}

function failurePrefix(command: string, cwd: string, link: SpawnOptions['link']): string {
  if (!('terminal' in link)) return `error starting process '${command}'`
  const { cols, rows } = link.terminal
  return `error starting pty with command '${command}' in dir '${cwd}' with '${cols}' cols and '${rows}' rows`
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
