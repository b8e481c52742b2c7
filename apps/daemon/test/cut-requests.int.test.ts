import { readFile, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { beforeEach, describe, expect, it } from 'vitest'
import { useDaemon, waitForOpenFiles } from './support/daemon-fixture.ts'
import type { TestDaemon } from './support/test-daemon.ts'

const fixture = useDaemon()
let daemon: TestDaemon
let path: string
beforeEach(() => {
  daemon = fixture.daemon
  path = `${fixture.dir}/f`
})

const dial = (): Socket => connect(Number(new URL(daemon.url).port), '127.0.0.1')
const request = (headers: readonly string[], body: string | Buffer) =>
  Buffer.concat([
    Buffer.from(`${[`POST /files?path=${path}&username=daemon HTTP/1.1`, 'Host: x', ...headers].join('\r\n')}\r\n\r\n`),
    Buffer.from(body),
  ])

async function waitForContent(content: string): Promise<void> {
  await pollUntil({ what: 'the bytes that arrived', timeoutMs: 20_000, everyMs: 20 }, async () =>
    (await readFile(path, 'utf8').catch(() => '')) === content ? true : undefined,
  )
  await waitForOpenFiles(fixture.dir, 0)
}

const RAW = 'Content-Type: application/octet-stream'
const FORM = 'Content-Type: multipart/form-data; boundary=XX'
const ACCOUNT = `Authorization: Basic ${btoa('daemon:')}`
const GZIP = 'Content-Encoding: gzip'
const CHUNKED = 'Transfer-Encoding: chunked'
const long = 'x'.repeat(40_000)
const part = '--XX\r\nContent-Disposition: form-data; name="file"\r\n\r\narrived'
const zipped = gzipSync(long + String.fromCharCode(...Array.from({ length: 500 }, (_item, index) => (index * 37) % 128)))

describe('an upload cut short keeps what arrived', () => {
  const cuts: [string, readonly string[], string | Buffer, string, string][] = [
    ['few bytes', [RAW, 'Content-Length: 1003'], 'abc', 'abc', 'error writing file: unexpected EOF'],
    ['many bytes', [RAW, 'Content-Length: 41000'], long, long, 'error writing file: unexpected EOF'],
    ['of an account', [RAW, ACCOUNT, 'Content-Length: 1003'], 'abc', 'abc', 'error writing file: unexpected EOF'],
    ['chunks', [RAW, CHUNKED], '5\r\nhello\r\n', 'hello', 'error writing file: unexpected EOF'],
    ['a part', [FORM, 'Content-Length: 1003'], part, 'arrived', 'error writing file: unexpected EOF'],
    ['after a part', [FORM, 'Content-Length: 1003'], `${part}\r\n--XX\r\n`, 'arrived', 'error reading form: unexpected EOF'],
    ['whole gzip', [RAW, GZIP, 'Content-Length: 1003'], gzipSync('zz'), 'zz', 'error writing file: unexpected EOF'],
  ]

  it.each(cuts)('[daemon POST /files] and reports the error: %s', async (_what, headers, body, kept, message) => {
    const socket = dial()
    socket.end(request(headers, body))
    const [head, answer] = (await text(socket)).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 500 [^]*\r\nconnection: close/i)
    expect(answer).toBe(`${JSON.stringify({ code: 500, message })}\n`)
    await waitForContent(kept)
  })

  it('[daemon POST /files] when the client has disconnected', async () => {
    const socket = dial()
    socket.write(request([RAW, 'Content-Length: 41000'], long), () => socket.destroy())
    await waitForContent(long)
  })

  it('[daemon POST /files] when the connection is reset', async () => {
    const socket = dial()
    socket.write(request([RAW, 'Content-Length: 41000'], long))
    await pollUntil(
      { what: 'the file', timeoutMs: 20_000, everyMs: 20 },
      async () => (await readFile(path, 'utf8').catch(() => '')) || undefined,
    )
    socket.resetAndDestroy()
    await waitForContent(long)
  })

  it('[daemon POST /files] decoded up to the cut', async () => {
    const socket = dial()
    socket.end(request([RAW, GZIP, 'Content-Length: 100000'], zipped.subarray(0, -30)))
    expect(await text(socket)).toContain('error writing file: unexpected EOF')
    expect(await readFile(path, 'utf8')).toContain(long)
  })

  it.each([
    [Buffer.concat([gzipSync('zz'), Buffer.from('junk')]), 'zz', 'unexpected EOF'],
    [Buffer.concat([gzipSync('zz'), Buffer.from('more junk than that')]), 'zz', 'gzip: invalid header'],
    [Buffer.concat([gzipSync('zz'), gzipSync(long).subarray(0, -4)]), `zz${long}`, 'unexpected EOF'],
  ])('[daemon POST /files] when other bytes follow the gzip data', async (body, kept, message) => {
    const socket = dial()
    socket.write(request([RAW, GZIP, 'Connection: close', `Content-Length: ${body.length}`], body))
    expect(await text(socket)).toContain(JSON.stringify({ code: 500, message: `error writing file: ${message}` }))
    await waitForContent(kept)
  })

  it('[daemon POST /files] and accepts gzip in many members and pieces', async () => {
    const named = gzipSync('named')
    named.writeUInt8(0x0c, 3)
    const withName = Buffer.concat([named.subarray(0, 10), Buffer.from('\x03\0abcfile\0', 'latin1'), named.subarray(10)])
    const body = Buffer.concat([gzipSync(long), withName, gzipSync(''), zipped])
    const socket = dial()
    socket.write(request([RAW, GZIP, 'Connection: close', CHUNKED], ''))
    for (const byte of body) socket.write(Buffer.concat([Buffer.from('1\r\n'), Buffer.of(byte), Buffer.from('\r\n')]))
    socket.write('0\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /)
    await waitForContent(`${long}named${gunzipSync(zipped).toString()}`)
  })

  it('[daemon POST /files] when a chunk has an invalid size', async () => {
    const socket = dial()
    socket.write(request([RAW, CHUNKED], '5\r\nhello\r\nzz\r\n'))
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /)
    await waitForContent('hello')
  })
})

describe('a client that closes its side after a whole request', () => {
  it.each([
    ['[daemon POST /files] gets its answer', () => request([RAW, 'Content-Length: 5'], 'whole')],
    [
      '[daemon POST /files] gets its answer after a form',
      () => request([FORM, 'Content-Length: 68'], `${part.replace('arrived', 'whole')}\r\n--XX--\r\n`),
    ],
  ])('%s', async (_what, bytes) => {
    const socket = connect({ port: Number(new URL(daemon.url).port), host: '127.0.0.1', allowHalfOpen: true })
    socket.end(bytes())
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /)
    socket.destroy()
    expect(await readFile(path, 'utf8')).toBe('whole')
  })

  it('[daemon GET /files] receives the whole file', async () => {
    await writeFile(path, long.repeat(50))
    const socket = connect({ port: Number(new URL(daemon.url).port), host: '127.0.0.1', allowHalfOpen: true })
    socket.end(`GET /files?path=${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    const answer = await text(socket)
    socket.destroy()
    expect(answer.slice(answer.indexOf('\r\n\r\n') + 4)).toBe(long.repeat(50))
  })
})

describe('invalid HTTP', () => {
  const error = `${JSON.stringify({ code: 400, message: 'Bad Request' })}\n`

  it.each([
    'garbage\r\n\r\n',
    'POST /files HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx',
    'POST /files HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx',
    'POST /init HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  ])('gets a 400 with a JSON body: %j', async (bytes) => {
    const socket = dial()
    socket.write(bytes)
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nContent-Type: application\/json; charset=utf-8\r\n/)
    expect(answer.endsWith(`\r\n\r\n${error}`)).toBe(true)
  })

  it('gets its 400 after the answer to the valid request before it', async () => {
    const socket = dial()
    socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\ngarbage\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 204 [^]*HTTP\/1\.1 400 Bad Request\r\n/)
  })

  it('a request to another route that is cut short gets a 400', async () => {
    const socket = dial()
    socket.end('POST /init HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{}')
    expect((await text(socket)).endsWith(`\r\n\r\n${error}`)).toBe(true)
  })
})
