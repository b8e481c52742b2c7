import { mkdtemp, rm } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConnectError, createClient } from '@connectrpc/connect'
import { createConnectTransport } from '@connectrpc/connect-node'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'
import { expect, it } from 'vitest'
import { startDaemonProcess } from './support/daemon-process.ts'

const ROUNDS = 15
const AT_ONCE = 8

/** A call of an unknown user on a connection of its own, as the control plane makes them. Returns the message of the refusal. */
async function refusalOf(url: string): Promise<string> {
  const transport = createConnectTransport({ httpVersion: '1.1', baseUrl: url, nodeOptions: { agent: new Agent() } })
  const headers = { authorization: `Basic ${btoa('nobody-here:')}` }
  try {
    for await (const _ of createClient(Process, transport).start({ process: { cmd: '/bin/true' } }, { headers })) break
    return 'no refusal'
  } catch (error) {
    return ConnectError.from(error).rawMessage
  }
}

it('[process.Process/Start] a refused call on a connection that closes always gets its answer', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sandyard-refused-'))
  try {
    await using daemon = await startDaemonProcess(directory)
    for (let round = 0; round < ROUNDS; round++) {
      const refusals = await Promise.all(Array.from({ length: AT_ONCE }, () => refusalOf(daemon.url)))
      expect(refusals).toEqual(Array(AT_ONCE).fill("invalid username: 'nobody-here'"))
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
