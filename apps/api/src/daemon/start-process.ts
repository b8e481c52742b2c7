import { Agent } from 'node:http'
import { Code, ConnectError, createClient } from '@connectrpc/connect'
import { createConnectTransport } from '@connectrpc/connect-node'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'
import { daemonHeaders, daemonUrl, type Daemon } from './daemon.ts'
import { DaemonCallError } from './daemon-call-error.ts'

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

export type ProcessOutput = 'stdout' | 'stderr'

export type DaemonProcessEvent =
  | { readonly kind: 'start'; readonly pid: number }
  | { readonly kind: 'output'; readonly stream: ProcessOutput; readonly bytes: Uint8Array }
  /** `exitCode` is -1 for a signal; `status` as envd.md 8.7 words it. */
  | { readonly kind: 'end'; readonly exitCode: number; readonly status: string }

/**
 * Starts a process without input and yields its events (envd.md 8). Ends when the process and all holders of its output have ended. If the
 * reader stops, the process keeps running and its further output is dropped.
 *
 * @throws DaemonCallError; the abort reason
 */
export async function* startProcess(daemon: Daemon, request: ProcessRequest, signal: AbortSignal): AsyncGenerator<DaemonProcessEvent> {
  const { cmd, args, user, cwd, env, timeoutMs } = request
  // Its own connection: no connection stays open to a sandbox that ends.
  const transport = createConnectTransport({ httpVersion: '1.1', baseUrl: daemonUrl(daemon), nodeOptions: { agent: new Agent() } })
  const left = new AbortController()
  try {
    const events = createClient(Process, transport).start(
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
    for await (const { event } of events) {
      const told = event?.event
      if (told?.case === 'start') yield { kind: 'start', pid: told.value.pid }
      if (told?.case === 'end') yield { kind: 'end', exitCode: told.value.exitCode, status: told.value.status }
      if (told?.case !== 'data') continue
      const { output } = told.value
      if (output.case === 'stdout' || output.case === 'stderr') yield { kind: 'output', stream: output.case, bytes: output.value }
    }
  } catch (err) {
    signal.throwIfAborted()
    if (!(err instanceof ConnectError)) throw err
    throw new DaemonCallError(nameOf(err.code), err.rawMessage, { cause: err })
  } finally {
    left.abort()
  }
}

/** The code in the spelling of the wire. */
function nameOf(code: Code): string {
  return (Code[code] ?? 'Unknown').replaceAll(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase()
}
