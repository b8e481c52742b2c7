import { createClient, type CallOptions, type Client } from '@connectrpc/connect'
import { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'
import { MAX_RELAY_ANSWER_BYTES, RELAY_TIMEOUT_MS } from '@sandyard/dashboard-contract/limits'
import { within } from '@sandyard/kit/async/within'
import { daemonHeaders, type Daemon } from '../../daemon/daemon.ts'
import { openDaemonTransport, toDaemonCallError } from '../../daemon/daemon-transport.ts'
import { toRelayError } from './relay-error.ts'

export interface DaemonClients {
  readonly files: Client<typeof Filesystem>
  readonly processes: Client<typeof Process>
}

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
  using transport = openDaemonTransport(daemon, MAX_RELAY_ANSWER_BYTES)
  const clients = { files: createClient(Filesystem, transport.rpc), processes: createClient(Process, transport.rpc) }
  const deadline = { what: 'The answer of the sandbox', timeoutMs: RELAY_TIMEOUT_MS, signal }
  try {
    return await within(deadline, (signal) => call(clients, { headers: daemonHeaders(daemon, user), signal }))
  } catch (err) {
    signal.throwIfAborted()
    throw toRelayError(toDaemonCallError(err))
  }
}
