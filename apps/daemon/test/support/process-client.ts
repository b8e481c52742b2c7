import { createClient } from '@connectrpc/connect'
import { createConnectTransport } from '@connectrpc/connect-node'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'
import type { TestDaemon } from './test-daemon.ts'

/** Calls the processes of a daemon that runs elsewhere, as the SDKs do. */
export function connectTo(url: string): Pick<TestDaemon, 'process'> {
  const transport = createConnectTransport({ baseUrl: url, httpVersion: '1.1', useBinaryFormat: false, acceptCompression: [] })
  return { process: createClient(Process, transport) }
}
