import { Agent } from 'node:http'
import { Code, ConnectError, createClient, type Client } from '@connectrpc/connect'
import { createConnectTransport } from '@connectrpc/connect-node'
import { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'
import { daemonUrl, type Daemon } from './daemon.ts'
import { DaemonCallError } from './daemon-call-error.ts'

export interface DaemonClients extends Disposable {
  readonly files: Client<typeof Filesystem>
  readonly processes: Client<typeof Process>
}

/**
 * Connections of its own to a daemon: none stays open to a sandbox that ends.
 *
 * @param maxBytes - the largest message that is read: the daemon runs in an untrusted sandbox
 */
export function openDaemonClients(daemon: Daemon, maxBytes?: number): DaemonClients {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 1 })
  const rpc = createConnectTransport({
    httpVersion: '1.1',
    baseUrl: daemonUrl(daemon),
    nodeOptions: { agent },
    ...(maxBytes !== undefined && { readMaxBytes: maxBytes }),
  })
  return { files: createClient(Filesystem, rpc), processes: createClient(Process, rpc), [Symbol.dispose]: () => agent.destroy() }
}

/** The error of a call. Other errors than those of the protocol stay as they are. */
export function toDaemonCallError(err: unknown): unknown {
  return err instanceof ConnectError ? new DaemonCallError(nameOf(err.code), err.rawMessage, { cause: err }) : err
}

/** The code in the spelling of the wire. */
function nameOf(code: Code): string {
  return (Code[code] ?? 'Unknown').replaceAll(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase()
}
