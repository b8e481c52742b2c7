import { createClient } from '@connectrpc/connect'
import { createConnectTransport } from '@connectrpc/connect-node'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'
import type { TestDaemon } from './test-daemon.ts'

/** A client of the process service of another daemon, configured like the SDKs. */
export function connectTo(url: string): Pick<TestDaemon, 'process'> {
  const transport = createConnectTransport({ baseUrl: url, httpVersion: '1.1', useBinaryFormat: false, acceptCompression: [] })
  return { process: createClient(Process, transport) }
}
