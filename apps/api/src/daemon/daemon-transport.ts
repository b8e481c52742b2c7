import { Agent } from 'node:http'
import { Code, ConnectError, type Transport } from '@connectrpc/connect'
import { createConnectTransport } from '@connectrpc/connect-node'
import { daemonUrl, type Daemon } from './daemon.ts'
import { DaemonCallError } from './daemon-call-error.ts'

export interface DaemonTransport extends Disposable {
  readonly rpc: Transport
}

/**
 * Connections of its own to a daemon: none stays open to a sandbox that ends.
 *
 * @param maxBytes - the largest message that is read: the daemon runs in an untrusted sandbox
 */
export function openDaemonTransport(daemon: Daemon, maxBytes?: number): DaemonTransport {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 1 })
  const rpc = createConnectTransport({
    httpVersion: '1.1',
    baseUrl: daemonUrl(daemon),
    nodeOptions: { agent },
    ...(maxBytes !== undefined && { readMaxBytes: maxBytes }),
  })
  return { rpc, [Symbol.dispose]: () => agent.destroy() }
}

/** The error of a call. Other errors than those of the protocol stay as they are. */
export function toDaemonCallError(err: unknown): unknown {
  return err instanceof ConnectError ? new DaemonCallError(nameOf(err.code), err.rawMessage, { cause: err }) : err
}

/** The code in the spelling of the wire. */
function nameOf(code: Code): string {
  return (Code[code] ?? 'Unknown').replaceAll(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase()
}

/** Daemons send a message at least this often when they are asked to (envd.md 6.7). */
const KEEPALIVE_SECONDS = 20
const SILENCE_MS = 50_000

export const KEEPALIVE_HEADERS = { 'keepalive-ping-interval': String(KEEPALIVE_SECONDS) } as const

/**
 * Ends a stream that has been silent for too long. A frozen sandbox closes no connection.
 *
 * @param abort - ends the call
 */
export async function* endWhenSilent<T>(events: AsyncIterable<T>, abort: (reason: Error) => void): AsyncGenerator<T> {
  const timer = setTimeout(() => abort(new DaemonCallError('unavailable', 'the daemon is silent')), SILENCE_MS)
  try {
    for await (const event of events) {
      timer.refresh()
      yield event
      // A reader that takes its time is not the daemon's silence.
      timer.refresh()
    }
  } finally {
    clearTimeout(timer)
  }
}
