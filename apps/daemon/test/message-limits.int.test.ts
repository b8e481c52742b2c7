import { Agent } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { begin, collect } from './support/collect.ts'
import { exchange } from './support/http-exchange.ts'
import { envelope, stream, unary } from './support/raw-rpc.ts'
import { startDaemon, type TestDaemon } from './support/test-daemon.ts'

const MIB = 1024 * 1024
const HEAD_BYTES = 5
let daemon: TestDaemon

beforeAll(async () => {
  daemon = await startDaemon()
})
afterAll(() => daemon[Symbol.asyncDispose]())

async function refusal(method: string, body: string) {
  const { status, text } = await unary(daemon.url, method, body)
  return [status, JSON.parse(text)]
}

describe('messages that could exhaust the memory of the sandbox', () => {
  it('[filesystem.Filesystem/Stat] refuses a megabyte and names the limit', async () => {
    const tooLarge = { code: 'resource_exhausted', message: expect.stringMatching(/larger than .*readMaxBytes 1048576$/) as string }
    expect(await refusal('filesystem.Filesystem/Stat', JSON.stringify({ path: 'a'.repeat(MIB) }))).toEqual([429, tooLarge])
    const [status, { message }] = await refusal('filesystem.Filesystem/Stat', JSON.stringify({ path: `/${'a'.repeat(MIB / 2)}` }))
    expect([status, message.slice(-20)]).toEqual([500, ': file name too long'])
  })

  it('[process.Process/SendInput] accepts a long paste up to its limit', async () => {
    const { selector, rest } = await begin(daemon, ['/bin/sh', '-c', 'wc -c'])
    const input = (mib: number) => JSON.stringify({ process: { pid: selector.selector.value }, input: { stdin: 'A'.repeat(mib * MIB) } })
    expect((await unary(daemon.url, 'process.Process/SendInput', input(16))).status).toBe(200)
    expect(await refusal('process.Process/SendInput', input(33))).toEqual([
      429,
      { code: 'resource_exhausted', message: expect.stringMatching(/larger than .*readMaxBytes 33554432$/) as string },
    ])
    await daemon.process.closeStdin({ process: selector })
    let count = ''
    for await (const { event } of rest) {
      if (event?.event.case === 'data' && event.event.value.output.case === 'stdout')
        count += Buffer.from(event.event.value.output.value).toString()
    }
    expect(count).toBe(`${12 * MIB}\n`)
  })

  it('[process.Process/StreamInput] accepts a message just below the limit while the next ones follow in the same piece', async () => {
    const { selector, rest } = await begin(daemon, ['/bin/sh', '-c', 'wc -c'])
    const pid = selector.selector.value
    const data = (text: string) => envelope({ data: { input: { stdin: text } } })
    const empty = data('').length - HEAD_BYTES
    // Base64 comes in groups of four characters.
    const room = Math.floor((32 * MIB - empty) / 4) * 4
    const body = Buffer.concat([envelope({ start: { process: { pid } } }), data('A'.repeat(room)), data('QUJD'), data('QUJD')])
    const { envelopes } = await stream(daemon.url, 'process.Process/StreamInput', body)
    expect(envelopes).toEqual([
      { flags: 0, message: {} },
      { flags: 2, message: {} },
    ])
    await daemon.process.closeStdin({ process: selector })
    expect((await collect(rest)).stdout).toBe(`${(room / 4) * 3 + 6}\n`)
  })

  it('[filesystem.Filesystem/WatchDir] applies the same limit to streams, with and without an envelope', async () => {
    const long = JSON.stringify({ path: 'a'.repeat(MIB) })
    for (const body of [envelope(long), Buffer.from(long)]) {
      const { envelopes } = await stream(daemon.url, 'filesystem.Filesystem/WatchDir', body)
      expect(envelopes).toMatchObject([{ flags: 2, message: { error: { code: 'resource_exhausted' } } }])
    }
  })

  it('[filesystem.Filesystem/Stat] applies the same limit to chunked and compressed messages, and the client gets the error', async () => {
    const long = Buffer.from(JSON.stringify({ path: 'a'.repeat(4 * MIB) }))
    const zipped = await unary(daemon.url, 'filesystem.Filesystem/Stat', gzipSync(long), { 'content-encoding': 'gzip' })
    expect([zipped.status, JSON.parse(zipped.text)]).toMatchObject([429, { code: 'resource_exhausted' }])
    const chunked = await exchange(daemon.url, {
      method: 'POST',
      path: '/filesystem.Filesystem/Stat',
      headers: { 'content-type': 'application/json', 'connect-protocol-version': '1', 'transfer-encoding': 'chunked' },
      body: long,
    })
    expect([chunked.status, JSON.parse(chunked.text)]).toMatchObject([429, { code: 'resource_exhausted' }])
  })

  it('[filesystem.Filesystem/WatchDir] keeps the connection usable after it has refused a message', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const headers = { 'connect-protocol-version': '1', 'transfer-encoding': 'chunked' }
    const call = (method: string, type: string, body: Buffer) =>
      exchange(daemon.url, { method: 'POST', path: `/${method}`, headers: { ...headers, 'content-type': type }, body, agent })
    const long = Buffer.from(JSON.stringify({ path: 'a'.repeat(4 * MIB) }))
    await call('filesystem.Filesystem/WatchDir', 'application/connect+json', long)
    await call('filesystem.Filesystem/Stat', 'application/json', long)
    expect((await call('filesystem.Filesystem/Stat', 'application/json', Buffer.from('{"path":"/"}'))).status).toBe(200)
    agent.destroy()
  })

  it('[process.Process/SendSignal] limits the depth of nested binary groups', async () => {
    const groups = Buffer.concat([Buffer.alloc(1_000_000, 0x7b), Buffer.alloc(1_000_000, 0x7c)])
    for (const headers of [{}, { 'content-encoding': 'gzip' }]) {
      const body = 'content-encoding' in headers ? gzipSync(groups) : groups
      const answer = await unary(daemon.url, 'process.Process/SendSignal', body, { 'content-type': 'application/proto', ...headers })
      expect([answer.status, JSON.parse(answer.text)]).toMatchObject([400, { code: 'invalid_argument' }])
    }
    const { envelopes } = await stream(daemon.url, 'process.Process/Start', envelope(groups), {
      'content-type': 'application/connect+proto',
    })
    expect(envelopes).toMatchObject([{ flags: 2, message: { error: { code: 'invalid_argument' } } }])
  })

  it.each(['process.Process/SendSignal', 'filesystem.Filesystem/Stat'])('[%s] limits the depth of JSON', async (method) => {
    const deep = (depth: number) => `{"x":${'{"x":'.repeat(depth)}1${'}'.repeat(depth)}}`
    expect(await refusal(method, deep(100_000))).toEqual([400, { code: 'invalid_argument', message: 'nested deeper than 10000 levels' }])
    expect((await unary(daemon.url, method, deep(5_000))).status).not.toBe(400)
  })
})
