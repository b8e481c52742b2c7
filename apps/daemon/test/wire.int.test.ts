import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { begin } from './support/collect.ts'
import { envelope, stream, unary } from './support/raw-rpc.ts'
import { startDaemon, type TestDaemon } from './support/test-daemon.ts'

const START = 'process.Process/Start'
let daemon: TestDaemon

beforeAll(async () => {
  daemon = await startDaemon()
})
afterAll(() => daemon[Symbol.asyncDispose]())

const code = (text: string) => JSON.parse(text) as { code: string; message: string }

describe('streams', () => {
  it('are JSON envelopes with zero values and an end', async () => {
    const request = { process: { cmd: '/bin/sh', args: ['-c', 'printf hi'], cwd: '/' }, stdin: false }
    const { status, headers, envelopes } = await stream(daemon.url, START, envelope(request))
    expect([status, headers.get('content-type'), headers.get('content-encoding')]).toEqual([200, 'application/connect+json', null])
    expect(envelopes).toEqual([
      { flags: 0, message: { event: { start: { pid: expect.any(Number) as number } } } },
      { flags: 0, message: { event: { data: { stdout: 'aGk=' } } } },
      { flags: 0, message: { event: { end: { exitCode: 0, exited: true, status: 'exit status 0' } } } },
      { flags: 2, message: {} },
    ])
  })

  it.each([
    ['an empty selector', 'Connect', '{}', { code: 'unimplemented', message: 'invalid input type *process.ProcessSelector' }],
    ['an unknown pid', 'Connect', '{"process":{"pid":1}}', { code: 'not_found', message: 'process with pid 1 not found' }],
    ['an unknown tag', 'Connect', '{"process":{"tag":""}}', { code: 'not_found', message: 'process with tag  not found' }],
    ['no process', 'Start', '{}', { code: 'invalid_argument', message: 'process is required' }],
    ['an empty envelope', 'Start', '', { code: 'invalid_argument', message: 'process is required' }],
  ])('fail with a single error envelope: %s', async (_, method, body, error) => {
    const { status, envelopes } = await stream(daemon.url, `process.Process/${method}`, envelope(body))
    expect([status, envelopes]).toEqual([200, [{ flags: 2, message: { error } }]])
  })

  it.each([['{'], ['{"process":{"cmd":5}}'], ['{"process":{"cmd":"a","args":"b"}}'], ['{"stdin":"yes"}'], ['[]']])(
    'refuse what is not a message: %s',
    async (body) => {
      const { envelopes } = await stream(daemon.url, START, envelope(body))
      const message = expect.any(String) as string
      expect(envelopes).toEqual([{ flags: 2, message: { error: { code: 'invalid_argument', message } } }])
    },
  )

  it('accept null and unknown fields, as protobuf JSON does', async () => {
    const request = '{"process":{"cmd":"/bin/true","cwd":"/","envs":null,"args":null},"pty":null,"tag":null,"stdin":null,"unknown":{"a":1}}'
    const { envelopes } = await stream(daemon.url, START, envelope(request))
    expect(envelopes.at(-2)?.message).toMatchObject({ event: { end: { exitCode: 0 } } })
  })

  it('are compressed only when the client asks', async () => {
    const request = { process: { cmd: '/bin/sh', args: ['-c', 'head -c 9000 /dev/zero'], cwd: '/' }, stdin: false }
    const plain = await stream(daemon.url, START, envelope(request), { 'accept-encoding': 'gzip, br' })
    expect(plain.envelopes.every(({ flags }) => (flags & 1) === 0)).toBe(true)
    const refused = await stream(daemon.url, START, envelope(request), { 'connect-content-encoding': 'br' })
    expect(refused.envelopes).toEqual([
      {
        flags: 2,
        message: {
          error: { code: 'unimplemented', message: 'unknown compression "br": supported encodings are gzip' },
        },
      },
    ])
  })
})

describe('unary calls', () => {
  it('List returns processes with the requested configuration', async () => {
    const started = await begin(daemon, ['sleep', '60'], { request: { tag: 't' }, config: { envs: { size: '5', mode: '6' } } })
    const { text } = await unary(daemon.url, 'process.Process/List', {})
    const config = { cmd: 'sleep', args: ['60'], envs: { size: '5', mode: '6' }, cwd: '/' }
    expect(JSON.parse(text)).toEqual({ processes: [{ config, pid: started.pid, tag: 't' }] })
    const killed = await unary(daemon.url, 'process.Process/SendSignal', { process: { tag: 't' }, signal: 9 })
    expect([killed.status, killed.text]).toEqual([200, '{}'])
  })

  it.each([
    ['SendSignal', { process: { pid: 1 }, signal: 'SIGNAL_SIGKILL' }, 404, 'not_found', 'process with pid 1 not found'],
    ['SendInput', {}, 501, 'unimplemented', 'invalid input type *process.ProcessSelector'],
    ['CloseStdin', { process: { pid: 1 } }, 404, 'not_found', 'process with pid 1 not found'],
    ['Update', { process: { pid: 1 } }, 404, 'not_found', 'process with pid 1 not found'],
  ])('%s %j fails', async (method, body, status, name, message) => {
    const response = await unary(daemon.url, `process.Process/${method}`, body)
    expect([response.status, response.headers.get('content-type'), code(response.text)]).toEqual([
      status,
      'application/json',
      { code: name, message },
    ])
  })

  it('to a live process fail with the documented messages', async () => {
    const started = await begin(daemon, ['sleep', '60'], { request: { stdin: false } })
    const process = { pid: started.pid }
    const answers = [
      ['SendSignal', { process }, 501, 'invalid signal: SIGNAL_UNSPECIFIED'],
      ['SendSignal', { process, signal: 'SIGNAL_NONE' }, 501, 'invalid signal: SIGNAL_UNSPECIFIED'],
      ['SendSignal', { process, signal: 7 }, 501, 'invalid signal: 7'],
      ['SendInput', { process }, 501, 'invalid input type <nil>'],
      ['SendInput', { process, input: { stdin: 'YQ==' } }, 500, 'error writing to stdin: stdin not enabled or closed'],
      [
        'SendInput',
        { process, input: { pty: 'YQ' } },
        500,
        'error writing to tty: tty not assigned to process — input should be written to the stdin, not the tty',
      ],
    ] as const
    for (const [method, body, status, message] of answers) {
      const response = await unary(daemon.url, `process.Process/${method}`, body)
      expect([response.status, code(response.text).message]).toEqual([status, message])
    }
    expect((await unary(daemon.url, 'process.Process/CloseStdin', { process })).status).toBe(200)
    await unary(daemon.url, 'process.Process/SendSignal', { process, signal: 'SIGNAL_SIGKILL' })
  })

  it('SendInput reports a broken pipe until CloseStdin, and then a closed input', async () => {
    const started = await begin(daemon, ['/bin/sh', '-c', 'exec <&-; echo; exec sleep 60'])
    await started.rest[Symbol.asyncIterator]().next()
    const process = { pid: started.pid }
    const send = async () =>
      code((await unary(daemon.url, 'process.Process/SendInput', { process, input: { stdin: 'YQ==' } })).text).message
    const broken = `error writing to stdin: error writing to stdin of process '${started.pid}': write |1: broken pipe`
    expect([await send(), await send()]).toEqual([broken, broken])
    await unary(daemon.url, 'process.Process/CloseStdin', { process })
    expect(await send()).toBe('error writing to stdin: stdin not enabled or closed')
    await unary(daemon.url, 'process.Process/SendSignal', { process, signal: 'SIGNAL_SIGKILL' })
  })

  it.each([['{'], [''], ['{"process":{"pid":-1}}'], ['{"process":{"pid":1,"tag":"a"}}'], ['{"process":{"pid":1.5}}']])(
    'refuse what is not a message: %j',
    async (body) => {
      const response = await unary(daemon.url, 'process.Process/SendSignal', body)
      expect([response.status, code(response.text).code]).toEqual([400, 'invalid_argument'])
    },
  )

  it('accept gzip and answer with gzip', async () => {
    const headers = {
      'content-type': 'application/json',
      'connect-protocol-version': '1',
      'content-encoding': 'gzip',
      'accept-encoding': 'gzip',
    }
    const response = await fetch(`${daemon.url}/process.Process/List`, { method: 'POST', headers, body: gzipSync('{}') })
    expect([response.status, await response.json()]).toEqual([200, { processes: [] }])
    const unknown = await unary(daemon.url, 'process.Process/List', {}, { 'content-encoding': 'br' })
    expect([unknown.status, code(unknown.text).message]).toEqual([501, 'unknown compression "br": supported encodings are gzip'])
    expect((await unary(daemon.url, 'process.Process/List', {}, { 'content-encoding': 'identity' })).status).toBe(200)
  })
})

describe('headers of a call', () => {
  it('must have the protocol version', async () => {
    for (const [version, message] of [
      ['2', 'Connect-Protocol-Version must be "1": got "2"'],
      [undefined, 'missing required header: set Connect-Protocol-Version to "1"'],
    ] as const) {
      const headers = { 'content-type': 'application/json', ...(version === undefined ? {} : { 'connect-protocol-version': version }) }
      const response = await fetch(`${daemon.url}/process.Process/List`, { method: 'POST', headers, body: '{}' })
      expect([response.status, await response.json()]).toEqual([400, { code: 'invalid_argument', message }])
    }
    await using lenient = await startDaemon({ SANDYARD_REQUIRE_CONNECT_PROTOCOL_HEADER: 'false' })
    const headers = { 'content-type': 'application/json' }
    expect((await fetch(`${lenient.url}/process.Process/List`, { method: 'POST', headers, body: '{}' })).status).toBe(200)
  })

  it.each(['abc', '-1', '1.5', '99999999999'])('a timeout of %s is refused', async (timeout) => {
    const message = `protocol error: invalid connect timeout value: ${timeout}`
    const answer = await unary(daemon.url, 'process.Process/List', {}, { 'connect-timeout-ms': timeout })
    expect([answer.status, code(answer.text)]).toEqual([400, { code: 'invalid_argument', message }])
    const { envelopes } = await stream(daemon.url, START, envelope({ process: { cmd: 'true' } }), { 'connect-timeout-ms': timeout })
    expect(envelopes).toEqual([{ flags: 2, message: { error: { code: 'invalid_argument', message } } }])
  })

  it.each([
    [{ 'connect-protocol-version': '2' }, 'invalid_argument'],
    [{ 'connect-timeout-ms': 'x' }, 'invalid_argument'],
    [{ 'connect-content-encoding': 'br' }, 'unimplemented'],
  ])('%j has the same code in a stream of requests', async (headers, code) => {
    const { envelopes } = await stream(daemon.url, 'process.Process/StreamInput', envelope('{}'), headers)
    expect(envelopes).toMatchObject([{ flags: 2, message: { error: { code } } }])
  })

  it('a timeout beyond the longest timer does not end the call', async () => {
    const request = envelope({ process: { cmd: '/bin/sleep', args: ['0.1'], cwd: '/' }, stdin: false })
    const { envelopes } = await stream(daemon.url, START, request, { 'connect-timeout-ms': '9999999999' })
    expect(envelopes.at(-2)?.message).toMatchObject({ event: { end: { exitCode: 0 } } })
  })

  it.each([
    ['process.Process/Start', 'application/json', 'application/connect+json'],
    ['process.Process/List', 'application/connect+json', 'application/json'],
    ['process.Process/List', 'text/plain', 'application/json'],
    ['filesystem.Filesystem/Stat', 'not a type', 'application/json'],
  ])('%s refuses %s', async (method, type, right) => {
    const response = await fetch(`${daemon.url}/${method}`, { method: 'POST', headers: { 'content-type': type }, body: '{}' })
    expect([response.status, await response.text()]).toEqual([415, ''])
    expect(response.headers.get('accept-post')).toContain(right)
  })
})
