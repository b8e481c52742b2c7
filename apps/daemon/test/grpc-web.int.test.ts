import { createClient } from '@connectrpc/connect'
import { createGrpcWebTransport } from '@connectrpc/connect-node'
import { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run, sh } from './support/collect.ts'
import { asUser, failureOf, startDaemon, type TestDaemon } from './support/test-daemon.ts'

let daemon: TestDaemon

beforeAll(async () => {
  daemon = await startDaemon()
})
afterAll(() => daemon[Symbol.asyncDispose]())

describe.each([true, false])('gRPC-Web, binary format: %s', (useBinaryFormat) => {
  const transport = () => createGrpcWebTransport({ baseUrl: daemon.url, httpVersion: '1.1', useBinaryFormat })
  const filesystem = () => createClient(Filesystem, transport())
  const process = () => createClient(Process, transport())

  it('[filesystem.Filesystem/Stat] returns an entry, or an error with its code', async () => {
    expect((await filesystem().stat({ path: '/etc' })).entry).toMatchObject({ name: 'etc', path: '/etc' })
    expect((await failureOf(filesystem().stat({ path: '/none' }))).code).toBe('NotFound')
  })

  it('[process.Process/Start] streams the output and the end', async () => {
    const outcome = await run({ process: process() }, sh('printf out; printf err >&2; exit 3'))
    expect(outcome).toMatchObject({ stdout: 'out', stderr: 'err', end: { exitCode: 3 } })
  })

  it('[process.Process/Start] ends the stream and the process at the deadline', async () => {
    const failed = await failureOf(run({ process: process() }, ['sleep', '63'], { timeoutMs: 300 }))
    expect(failed.code).toBe('DeadlineExceeded')
    await expect.poll(() => daemon.context.processes.list().map(({ config }) => config.args[0]), { timeout: 10_000 }).not.toContain('63')
  })

  it('accepts an existing user and refuses an unknown one', async () => {
    const call = failureOf(
      process()
        .list({}, asUser('nobody-here'))
        .then(() => undefined),
    )
    expect(await call).toEqual({ code: 'Unauthenticated', message: "invalid username: 'nobody-here'" })
    expect((await process().list({}, asUser('root'))).processes).toEqual([])
  })
})
