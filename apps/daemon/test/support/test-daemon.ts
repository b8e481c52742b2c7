import type { AddressInfo } from 'node:net'
import { Code, ConnectError, createClient, type Client } from '@connectrpc/connect'
import { createConnectTransport } from '@connectrpc/connect-node'
import { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'
import { readConfig } from '../../src/config.ts'
import { createContext, type DaemonContext } from '../../src/context.ts'
import { closeServer } from '../../src/http/close-server.ts'
import { createServer } from '../../src/server.ts'

export interface TestDaemon extends AsyncDisposable {
  readonly url: string
  readonly context: DaemonContext
  readonly process: Client<typeof Process>
  /** Asks for compression, so that the protocol library serves its streams. */
  readonly processByLibrary: Client<typeof Process>
  readonly filesystem: Client<typeof Filesystem>
  /** Ends all streams, as before an exit. */
  shutDown(): void
}

/** The daemon in this process, on loopback. `environment` is that of contract with the platform. */
export async function startDaemon(environment: Record<string, string> = {}): Promise<TestDaemon> {
  const shutdown = new AbortController()
  const config = readConfig({ SANDYARD_LOG_LEVEL: 'silent', SANDYARD_RUN_DIRECTORY: '/nonexistent', ...environment })
  const context = createContext(config, shutdown.signal)
  const server = createServer(context)
  await server.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`
  const options = { baseUrl: url, httpVersion: '1.1', useBinaryFormat: false } as const
  // Without compression, as the SDKs: their streams take the short way.
  const transport = createConnectTransport({ ...options, acceptCompression: [] })
  return {
    url,
    context,
    process: createClient(Process, transport),
    processByLibrary: createClient(Process, createConnectTransport(options)),
    filesystem: createClient(Filesystem, transport),
    shutDown: () => shutdown.abort(),
    async [Symbol.asyncDispose]() {
      for (const live of context.processes.list()) live.signal('SIGKILL')
      shutdown.abort()
      await closeServer(server, 1000)
    },
  }
}

/** What a Connect client throws. */
export async function failureOf(call: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await call.then(
    () => new Error('the call did not fail'),
    (failure: unknown) => failure,
  )
  if (!(error instanceof ConnectError)) throw error
  return { code: Code[error.code], message: error.rawMessage }
}

/** Headers of a call that acts for an account. */
export function asUser(name: string): { headers: { authorization: string } } {
  return { headers: { authorization: `Basic ${Buffer.from(`${name}:`).toString('base64')}` } }
}
