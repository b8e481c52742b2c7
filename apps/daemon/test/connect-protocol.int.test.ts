import { mkdir, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { create, toBinary } from '@bufbuild/protobuf'
import { createClient } from '@connectrpc/connect'
import { createConnectTransport } from '@connectrpc/connect-node'
import { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { ConnectRequestSchema, Process, SendSignalRequestSchema } from '@sandyard/daemon-protocol/process/process_pb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { collect } from './support/collect.ts'
import { exchange } from './support/http-exchange.ts'
import { envelope, stream, unary } from './support/raw-rpc.ts'
import { createScratchDirectory } from './support/scratch-directory.ts'
import { failureOf, startDaemon, type TestDaemon } from './support/test-daemon.ts'

const CONNECT = 'process.Process/Connect'
const SIGNAL = 'process.Process/SendSignal'
const STAT = 'filesystem.Filesystem/Stat'
const GRPC_WEB = 'application/grpc-web, application/grpc-web+json, application/grpc-web+json; charset=utf-8, application/grpc-web+proto'
const PID_1 = { process: { pid: 1 } }
const MALFORMED = { code: 'invalid_argument', message: expect.any(String) as string }
const NO_MESSAGE = { code: 'unimplemented', message: 'protocol error: missing input message for server-streaming method' }
const CUT = { code: 'invalid_argument', message: 'protocol error: incomplete envelope' }
const NO_PROCESS = { code: 'not_found', message: 'process with pid 1 not found' }
let daemon: TestDaemon
let scratch: Awaited<ReturnType<typeof createScratchDirectory>>

beforeAll(async () => {
  daemon = await startDaemon()
  scratch = await createScratchDirectory()
})
afterAll(async () => {
  await daemon[Symbol.asyncDispose]()
  await scratch[Symbol.asyncDispose]()
})

const errorOf = async (body: string | object, headers: Record<string, string> = {}) => {
  const answer = await unary(daemon.url, SIGNAL, body, headers)
  return JSON.parse(answer.text) as { code: string; message: string }
}
const endOf = async (body: Buffer<ArrayBuffer>, headers: Record<string, string> = {}) => {
  const { status, envelopes } = await stream(daemon.url, CONNECT, body, headers)
  expect([status, envelopes.length]).toEqual([200, 1])
  return { flags: envelopes[0]?.flags, error: envelopes[0]?.message['error'] }
}

describe('media types', () => {
  it.each([
    ['application/json', 'application/json'],
    ['Application/JSON ; Charset="UTF-8"', 'application/json'],
    ['application/json;', 'application/json'],
    ['application/proto', 'application/proto'],
  ])('%s is answered as %s', async (type, answered) => {
    const body = type === 'application/proto' ? toBinary(SendSignalRequestSchema, create(SendSignalRequestSchema)) : '{}'
    const { status, headers } = await unary(daemon.url, SIGNAL, Buffer.from(body), { 'content-type': type })
    // Errors are JSON whatever the codec.
    expect([status, headers.get('content-type')]).toEqual([501, 'application/json'])
    const list = await unary(daemon.url, 'process.Process/List', Buffer.from(body), { 'content-type': type })
    expect(list.headers.get('content-type')).toBe(answered)
    expect(list.headers.get('accept-encoding')).toBe('gzip')
  })

  it.each(['application/json; charset=latin1', 'application/json; x=y', 'application/grpc', 'application/connect+json', 'x'])(
    'a unary call refuses %s',
    async (type) => {
      const { status, headers, text } = await unary(daemon.url, SIGNAL, PID_1, { 'content-type': type })
      expect([status, text, headers.get('accept-post')]).toEqual([
        415,
        '',
        `${GRPC_WEB}, application/json, application/json; charset=utf-8, application/proto`,
      ])
    },
  )

  it('a stream refuses application/json and takes envelopes (envd.md 18.79)', async () => {
    const refused = await unary(daemon.url, CONNECT, PID_1)
    expect([refused.status, refused.text, refused.headers.get('accept-post')]).toEqual([
      415,
      '',
      `application/connect+json, application/connect+json; charset=utf-8, application/connect+proto, ${GRPC_WEB}`,
    ])
    expect(await endOf(envelope(PID_1))).toEqual({ flags: 2, error: NO_PROCESS })
  })
})

describe('envelopes', () => {
  it.each<[string, Buffer<ArrayBuffer>, object]>([
    ['no envelope', Buffer.alloc(0), NO_MESSAGE],
    ['an end without a message', envelope('{}', 2), NO_MESSAGE],
    [
      'two messages',
      Buffer.concat([envelope(PID_1), envelope(PID_1)]),
      { code: 'unimplemented', message: 'protocol error: received extra input message for server-streaming method' },
    ],
    ['a message and an end', Buffer.concat([envelope(PID_1), envelope('{}', 2)]), NO_PROCESS],
    ['a part of an envelope head', Buffer.alloc(4), CUT],
    ['a part of a message', envelope(PID_1).subarray(0, 15), CUT],
    [
      'a length of four gigabytes',
      Buffer.concat([Buffer.from([0, 255, 255, 255, 255]), Buffer.from('{}')]),
      { code: 'resource_exhausted', message: 'message size 4294967295 is larger than configured readMaxBytes 33554432' },
    ],
    ['unknown flags, which are ignored', envelope(PID_1, 4), NO_PROCESS],
    [
      'compression without the header',
      envelope(gzipSync(JSON.stringify(PID_1)), 1),
      { code: 'internal', message: 'received compressed envelope, but do not know how to decompress' },
    ],
    ['an empty message', envelope(''), { code: 'unimplemented', message: 'invalid input type *process.ProcessSelector' }],
    ['JSON without an envelope', Buffer.from(JSON.stringify(PID_1)), NO_PROCESS],
  ])('%s: the stream ends with an envelope that has the reason (envd.md 18.80)', async (_, body, error) => {
    expect(await endOf(body)).toEqual({ flags: 2, error })
  })

  it('may be compressed if the header names the coding', async () => {
    const headers = { 'connect-content-encoding': 'gzip' }
    expect(await endOf(envelope(gzipSync(JSON.stringify(PID_1)), 1), headers)).toEqual({ flags: 2, error: NO_PROCESS })
    expect(await endOf(envelope(PID_1), headers)).toEqual({ flags: 2, error: NO_PROCESS })
    expect(await endOf(envelope('no gzip, but long', 1), headers)).toMatchObject({
      error: { code: 'invalid_argument', message: 'decompress: incorrect header check' },
    })
  })
})

describe('compression of answers', () => {
  const start = (headers: Record<string, string>) => {
    const request = { process: { cmd: '/bin/sh', args: ['-c', 'head -c 9000 /dev/zero'], cwd: '/' }, stdin: false }
    return stream(daemon.url, 'process.Process/Start', envelope(request), headers)
  }

  it('of streams happens only if connect-accept-encoding allows gzip (envd.md 18.81)', async () => {
    const asked = await start({ 'connect-accept-encoding': 'br, gzip' })
    expect([asked.headers.get('connect-content-encoding'), asked.envelopes.some(({ flags }) => flags === 1)]).toEqual(['gzip', true])
    for (const headers of [
      {},
      { 'connect-accept-encoding': 'gzip;q=0' },
      { 'accept-encoding': 'gzip' },
      { 'connect-content-encoding': 'gzip' },
    ]) {
      const plain = await start(headers)
      expect([plain.headers.get('connect-content-encoding'), plain.headers.get('content-encoding')]).toEqual([null, null])
      expect(plain.envelopes.every(({ flags }) => (flags & 1) === 0)).toBe(true)
    }
  })

  it.each([
    ['gzip', 'gzip'],
    ['br,gzip', 'gzip'],
    ['gzip;q=0', null],
    ['br', null],
    ['x-gzip', null],
  ])('of a long unary answer for Accept-Encoding: %s is %s', async (accepted, encoding) => {
    const directory = `${scratch.path}/${accepted}`
    await mkdir(directory)
    for (let i = 0; i < 40; i++) await writeFile(`${directory}/${i}`, '')
    const { headers, text } = await unary(daemon.url, 'filesystem.Filesystem/ListDir', { path: directory }, { 'accept-encoding': accepted })
    expect([headers.get('content-encoding'), (JSON.parse(text) as { entries: unknown[] }).entries.length]).toEqual([encoding, 40])
  })
})

describe('unary requests', () => {
  it.each([
    ['an empty body with gzip', Buffer.alloc(0)],
    ['a body too short for gzip', Buffer.from('{}')],
    ['gzip cut short', gzipSync('{}').subarray(0, -9)],
  ])('%s is refused', async (_, body) => {
    expect(await errorOf(body, { 'content-encoding': 'gzip' })).toEqual(MALFORMED)
  })

  it('with a timeout of 0 do nothing (envd.md 18.62)', async () => {
    const path = `${scratch.path}/never`
    const answer = await unary(daemon.url, 'filesystem.Filesystem/MakeDir', { path }, { 'connect-timeout-ms': '0' })
    expect([answer.status, JSON.parse(answer.text)]).toEqual([504, { code: 'deadline_exceeded', message: 'context deadline exceeded' }])
    await expect(stat(path)).rejects.toThrow('ENOENT')
    for (const timeout of ['', '1', '9999999999']) {
      expect((await unary(daemon.url, STAT, { path: '/' }, { 'connect-timeout-ms': timeout })).status).toBe(200)
    }
  })

  it('take the first of a repeated header', async () => {
    const headers = {
      'content-type': 'application/json',
      'connect-protocol-version': ['1', '2'],
      'connect-timeout-ms': ['1000', 'x'],
    }
    const { status } = await exchange(daemon.url, { method: 'POST', path: `/${STAT}`, headers, body: '{"path":"/"}' })
    expect(status).toBe(200)
  })

  it.each([
    ['{"process":{"pid":"1"},"signal":9}', NO_PROCESS],
    ['{"process":{"pid":1.0e0},"signal":"SIGNAL_NEW"}', NO_PROCESS],
    ['{"process":{"pid":null,"tag":"none"},"signal":null}', { code: 'not_found', message: 'process with tag none not found' }],
    ['{"process":{"pid":1},"unknown":[{"a":1e999}]}', NO_PROCESS],
  ])('%s is read as proto3 JSON (envd.md 18.82)', async (body, error) => {
    expect(await errorOf(body)).toEqual(error)
  })

  it('take snake_case names, null and both alphabets of base64 (envd.md 18.82)', async () => {
    const path = `${scratch.path}/none`
    const watch = await unary(daemon.url, 'filesystem.Filesystem/CreateWatcher', { path, allow_network_mounts: true, recursive: null })
    expect(watch.status).toBe(404)
    for (const stdin of ['-_8=', '-_8', '+/8=', '+/8', null]) {
      const answer = await unary(daemon.url, 'process.Process/SendInput', { ...PID_1, input: { stdin } })
      expect(JSON.parse(answer.text)).toEqual(NO_PROCESS)
    }
  })

  it.each<[string, string | Buffer]>([
    ['a fraction', '{"process":{"pid":1.5}}'],
    ['a negative number', '{"process":{"pid":-1}}'],
    ['a number beyond 32 bits', '{"process":{"pid":4294967296}}'],
    ['a number that overflows to infinity', '{"process":{"pid":1e999}}'],
    ['two fields of one oneof', '{"process":{"pid":1,"tag":"a"}}'],
    ['a key twice', '{"process":{"pid":1},"process":{"pid":1}}'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a byte order mark', '\ufeff{}'],
    ['half a surrogate', '{"process":{"tag":"\\ud800"}}'],
    ['bytes that are not UTF-8', Buffer.from('7b2278223a22ff227d', 'hex')],
    ['200,000 open brackets', '['.repeat(200_000)],
    ['200,000 objects in a tag', `{"process":{"tag":${'{"a":'.repeat(200_000)}1${'}'.repeat(200_001)}}`],
  ])('%s is refused', async (_, body) => {
    expect(await errorOf(body)).toEqual(MALFORMED)
  })

  it.each(['0a0208', '0a041202fffe', 'ffffffffffffffffffffff', '00', '0b', '0f'])('binary %s is refused', async (hex) => {
    const error = await errorOf(Buffer.from(hex, 'hex'), { 'content-type': 'application/proto' })
    expect(error).toEqual(MALFORMED)
  })
})

describe('both codecs', () => {
  const clients = [true, false].map((useBinaryFormat) => {
    const transport = () => createConnectTransport({ baseUrl: daemon.url, httpVersion: '1.1', useBinaryFormat })
    return { process: () => createClient(Process, transport()), filesystem: () => createClient(Filesystem, transport()) }
  })

  it('give equal answers', async () => {
    const file = `${scratch.path}/same`
    await writeFile(file, '')
    const answers = clients.map(async ({ process, filesystem }) => {
      const found = await filesystem().stat({ path: file })
      const { entries } = await filesystem().listDir({ path: '/etc', depth: 2 })
      const failures = [
        filesystem().stat({ path: '/none' }),
        filesystem().makeDir({ path: '/etc' }),
        process().sendSignal({ process: { selector: { case: 'pid', value: 1 } } }),
        collect(process().connect({})),
      ].map(failureOf)
      const run = process().start({
        process: { cmd: '/bin/sh', args: ['-c', 'printf out; printf err >&2; exit 3'], cwd: '/' },
        stdin: false,
      })
      const { pid: _, kinds: __, ...outcome } = await collect(run)
      return { found, entries, outcome, failures: await Promise.all(failures) }
    })
    const [binary, json] = await Promise.all(answers)
    expect(binary).toEqual(json)
    expect(json?.outcome).toMatchObject({ stdout: 'out', stderr: 'err', end: { exitCode: 3 } })
  })

  it('report the same error at the end of a stream', async () => {
    const binary = Buffer.from(
      toBinary(ConnectRequestSchema, create(ConnectRequestSchema, { process: { selector: { case: 'pid', value: 1 } } })),
    )
    expect(await endOf(envelope(binary), { 'content-type': 'application/connect+proto' })).toEqual({ flags: 2, error: NO_PROCESS })
  })
})

describe('connections', () => {
  const send = async (pieces: string) => {
    const socket = connect(Number(new URL(daemon.url).port), '127.0.0.1')
    socket.end(pieces)
    return text(socket)
  }
  const call = (version: string, extra = '') =>
    `POST /${SIGNAL} HTTP/${version}\r\nHost: x\r\nContent-Type: application/json\r\nConnect-Protocol-Version: 1\r\n${extra}`
  const length = 'Content-Length: 2\r\n\r\n{}'

  it.each([
    ['a request whose client closes its side at once', call('1.1', length), 1],
    ['three requests in one piece', call('1.1', length).repeat(3), 3],
    ['HTTP/1.0', call('1.0', length), 1],
    ['three megabytes (envd.md 18.14)', call('1.1', `Content-Length: 3000002\r\n\r\n{${' '.repeat(3_000_000)}}`), 1],
    ['Expect: 100-continue', call('1.1', `Expect: 100-continue\r\n${length}`), 1],
    ['a chunked body', call('1.1', 'Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n'), 1],
    ['no Host', call('1.0', length).replace('Host: x', 'X: x'), 1],
  ])('%s is answered', async (_, bytes, times) => {
    expect((await send(bytes)).match(/ 501 Not Implemented\r\n/g)).toHaveLength(times)
  })

  it.each([
    ['two lengths', call('1.1', `Content-Length: 3\r\n${length}`), 400],
    ['a length and chunks', call('1.1', `Transfer-Encoding: chunked\r\n${length}`), 400],
    ['a chunk with an invalid size', call('1.1', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n'), 400],
    ['a header without a name', call('1.1', `: x\r\n${length}`), 400],
    ['a header with a space before its colon', call('1.1', `Transfer-Encoding : chunked\r\n${length}`), 400],
    ['a header that is folded', call('1.1', `A: b\r\n c\r\n${length}`), 400],
    ['two megabytes of headers', call('1.1', `A: ${'b'.repeat(2 * 1024 * 1024)}\r\n${length}`), 431],
    ['an unknown method', 'FOO /health HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  ])('%s is refused and the connection closed', async (_, bytes, status) => {
    const answer = await send(`${bytes}${call('1.1', length)}`)
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`])
    expect(answer).toMatch(/\r\nConnection: close\r\n/i)
  })

  it('have a keep-alive timeout of 640 s (envd.md 18.14)', async () => {
    expect((await fetch(`${daemon.url}/health`)).headers.get('keep-alive')).toBe('timeout=640')
  })

  it('get an answer if the client closes its side before the answer is ready', async () => {
    const body = JSON.stringify({ path: scratch.path })
    const headers = `Host: x\r\nContent-Type: application/json\r\nConnect-Protocol-Version: 1\r\nContent-Length: ${body.length}\r\n\r\n`
    expect(await send(`POST /${STAT} HTTP/1.1\r\n${headers}${body}`)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('get the first event of a stream at once, without a second one (envd.md 18.83)', async () => {
    const body = envelope({ process: { cmd: 'sleep', args: ['60'], cwd: '/' }, tag: 'silent' })
    const headers = { 'content-type': 'application/connect+json', 'connect-protocol-version': '1' }
    const response = await fetch(`${daemon.url}/process.Process/Start`, { method: 'POST', headers, body })
    const reader = response.body?.getReader()
    const first = Buffer.from((await reader?.read())?.value ?? [])
    expect(JSON.parse(first.subarray(5).toString())).toEqual({ event: { start: { pid: expect.any(Number) as number } } })
    await reader?.cancel()
    await unary(daemon.url, SIGNAL, { process: { tag: 'silent' }, signal: 'SIGNAL_SIGKILL' })
  })
})
