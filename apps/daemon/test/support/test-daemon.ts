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
  /** The same client, but it accepts compressed answers. */
  readonly compressedProcess: Client<typeof Process>
  readonly filesystem: Client<typeof Filesystem>
  /** Ends all streams, like the daemon before its exit. */
  shutDown(): void
}

/** Starts the daemon in this process on the loopback address. `environment` has the platform's settings. */
export async function startDaemon(environment: Record<string, string> = {}): Promise<TestDaemon> {
  const config = readConfig({ SANDYARD_LOG_LEVEL: 'silent', SANDYARD_RUN_DIRECTORY: '/nonexistent', ...environment })
  const context = createContext(config)
  const server = createServer(context)
  await server.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`
  const options = { baseUrl: url, httpVersion: '1.1', useBinaryFormat: false } as const
  // Without compression, like the SDKs.
  const transport = createConnectTransport({ ...options, acceptCompression: [] })
  return {
    url,
    context,
    process: createClient(Process, transport),
    compressedProcess: createClient(Process, createConnectTransport(options)),
    filesystem: createClient(Filesystem, transport),
    shutDown: () => context.shutDown(),
    async [Symbol.asyncDispose]() {
      for (const live of context.processes.list()) live.signal('SIGKILL')
      context.shutDown()
      await closeServer(server, 1000)
    },
  }
}

/** The error that a Connect client throws. */
export async function failureOf(call: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await call.then(
    () => new Error('the call did not fail'),
    (failure: unknown) => failure,
  )
  if (!(error instanceof ConnectError)) throw error
  return { code: Code[error.code], message: error.rawMessage }
}

/** The headers of a call for an account. */
export function asUser(name: string): { headers: { authorization: string } } {
  return { headers: { authorization: `Basic ${Buffer.from(`${name}:`).toString('base64')}` } }
}
