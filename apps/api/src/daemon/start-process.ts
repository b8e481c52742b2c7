import { daemonHeaders, type Daemon } from './daemon.ts'
import { loadDaemonRpc } from './load-daemon-rpc.ts'
import { toProcessEvent, type DaemonProcessEvent } from './process-events.ts'

export interface ProcessRequest {
  readonly cmd: string
  readonly args: readonly string[]
  /** Undefined: the daemon's default user. */
  readonly user?: string | undefined
  /** Undefined: the daemon's default directory, else the user's home. */
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>>
  /** The daemon kills the process after this time. */
  readonly timeoutMs?: number
}

/**
 * Starts a process without input and yields its events (envd.md 8). Ends when the process and all holders of its output have ended. If the
 * reader stops, the process keeps running and its further output is dropped.
 *
 * @throws DaemonCallError; the abort reason
 */
export async function* startProcess(daemon: Daemon, request: ProcessRequest, signal: AbortSignal): AsyncGenerator<DaemonProcessEvent> {
  const { cmd, args, user, cwd, env, timeoutMs } = request
  const { openDaemonClients, toDaemonCallError } = await loadDaemonRpc()
  using clients = openDaemonClients(daemon)
  const left = new AbortController()
  try {
    const events = clients.processes.start(
      {
        process: { cmd, args: [...args], envs: { ...env }, ...(cwd !== undefined && { cwd }) },
        stdin: false,
      },
      {
        headers: daemonHeaders(daemon, user),
        signal: AbortSignal.any([signal, left.signal]),
        ...(timeoutMs !== undefined && { timeoutMs }),
      },
    )
    for await (const message of events) {
      const event = toProcessEvent(message)
      if (event !== undefined && event.kind !== 'keepalive') yield event
    }
  } catch (err) {
    signal.throwIfAborted()
    throw toDaemonCallError(err)
  } finally {
    left.abort()
  }
}
