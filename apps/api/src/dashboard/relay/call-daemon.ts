import type { CallOptions } from '@connectrpc/connect'
import { MAX_RELAY_ANSWER_BYTES, RELAY_TIMEOUT_MS } from '@sandyard/dashboard-contract/limits'
import { within } from '@sandyard/kit/async/within'
import { daemonHeaders, type Daemon } from '../../daemon/daemon.ts'
import type { DaemonClients } from '../../daemon/daemon-rpc.ts'
import { loadDaemonRpc } from '../../daemon/load-daemon-rpc.ts'
import { toRelayError } from './relay-error.ts'

export interface RelayCall {
  /** Default: root. */
  readonly user?: string | undefined
  readonly signal: AbortSignal
}

/**
 * Runs unary calls of a sandbox's daemon: at most `MAX_RELAY_ANSWER_BYTES` of each answer, `RELAY_TIMEOUT_MS` in all, on connections of their own.
 *
 * @throws AppError, also for what the sandbox answers wrongly; the abort reason
 */
export async function callDaemon<T>(
  daemon: Daemon,
  { user = 'root', signal }: RelayCall,
  call: (clients: DaemonClients, options: CallOptions) => Promise<T>,
): Promise<T> {
  const { openDaemonClients, toDaemonCallError } = await loadDaemonRpc()
  using clients = openDaemonClients(daemon, MAX_RELAY_ANSWER_BYTES)
  const deadline = { what: 'The answer of the sandbox', timeoutMs: RELAY_TIMEOUT_MS, signal }
  try {
    return await within(deadline, (signal) => call(clients, { headers: daemonHeaders(daemon, user), signal }))
  } catch (err) {
    signal.throwIfAborted()
    throw toRelayError(toDaemonCallError(err))
  }
}
