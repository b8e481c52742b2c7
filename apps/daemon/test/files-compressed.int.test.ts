import { randomBytes } from 'node:crypto'
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { beforeEach, describe, expect, it } from 'vitest'
import { countTransfers } from '../src/files/memory-share.ts'
import { refusal, useDaemon, waitForOpenFiles } from './support/daemon-fixture.ts'
import { type Answer, exchange } from './support/http-exchange.ts'
import type { TestDaemon } from './support/test-daemon.ts'

const fixture = useDaemon()
let daemon: TestDaemon
let dir: string
beforeEach(() => {
  ;({ daemon, dir } = fixture)
})

function get(path: string, headers: Record<string, string>): Promise<Answer> {
  return exchange(daemon.url, { path: `/files?path=${encodeURIComponent(path)}`, headers })
}

function decode({ headers, body }: Answer): Buffer {
  const coding = headers['content-encoding']
  if (coding === 'gzip') return gunzipSync(body)
  return coding === 'zstd' ? zstdDecompressSync(body) : body
}

const text = (bytes: number): Buffer =>
  Buffer.from('All work and no play makes Jack a dull boy.\n'.repeat(Math.ceil(bytes / 44))).subarray(0, bytes)

describe('GET /files with Accept-Encoding', () => {
  it.each([
    // The defaults of HTTP libraries: the content decides, except for the smallest files.
    ['gzip, deflate', { small: 'gzip', random: undefined, text: 'gzip' }],
    ['gzip, deflate, br, zstd', { small: 'zstd', random: undefined, text: 'zstd' }],
    ['zstd;q=0.5, gzip', { small: 'gzip', random: undefined, text: 'gzip' }],
    ['gzip;q=0.5, zstd, deflate', { small: 'zstd', random: undefined, text: 'zstd' }],
    ['gzip;q=0.5, identity', { small: undefined, random: undefined, text: undefined }],
    ['zstd;q=0, gzip;q=0', { small: undefined, random: undefined, text: undefined }],
    // Explicit: the option `gzip` of the SDKs, and clients that refuse identity.
    ['gzip', { small: 'gzip', random: 'gzip', text: 'gzip' }],
    ['zstd', { small: 'zstd', random: 'zstd', text: 'zstd' }],
    ['gzip, deflate, identity;q=0', { small: 'gzip', random: 'gzip', text: 'gzip' }],
    ['*;q=0, gzip, zstd', { small: 'zstd', random: 'zstd', text: 'zstd' }],
  ])('[daemon GET /files] %s: chooses a coding by the content, for small and large files (envd.md 18.22)', async (header, expected) => {
    const files: [Buffer, string | undefined][] = [
      [Buffer.from('hello'), expected.small],
      [Buffer.alloc(0), expected.small],
      [randomBytes(40_000), expected.random],
      [randomBytes(300_000), expected.random],
      [text(40_000), expected.text],
      [text(300_000), expected.text],
    ]
    for (const [content, coding] of files) {
      await writeFile(`${dir}/file.txt`, content)
      const answer = await get(`${dir}/file.txt`, { 'accept-encoding': header })
      expect([answer.status, answer.headers.vary, answer.headers['content-encoding']]).toEqual([200, 'Accept-Encoding', coding])
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8')
      expect(decode(answer).equals(content)).toBe(true)
      const ofIdentity = ['last-modified', 'accept-ranges'].map((name) => answer.headers[name] !== undefined)
      expect(ofIdentity).toEqual(coding === undefined ? [true, true] : [false, false])
      if (coding === undefined) expect(answer.headers['content-length']).toBe(String(content.length))
    }
  })

  it('[daemon GET /files] uses identity for ranges and conditions, or answers 406 (envd.md 18.22)', async () => {
    for (const content of [text(5000), text(300_000), randomBytes(300_000)]) {
      await writeFile(`${dir}/file.txt`, content)
      const part = await get(`${dir}/file.txt`, { 'accept-encoding': 'gzip, zstd', range: 'bytes=1-2' })
      expect([part.status, part.body, part.headers['content-encoding']]).toEqual([206, content.subarray(1, 3), undefined])
      // Conditions do not apply to compressed answers, so a 412 must not depend on the content either.
      expect((await get(`${dir}/file.txt`, { 'accept-encoding': 'gzip, deflate', 'if-match': '"x"' })).status).toBe(200)
      expect((await get(`${dir}/file.txt`, { 'if-match': '"x"' })).status).toBe(412)
    }
    // The content type of a compressed answer depends on the path as the client sent it.
    const slashed = await get(`~/../../../..${dir}/file.txt/`, { 'accept-encoding': 'gzip' })
    expect([slashed.status, slashed.headers['content-type']]).toEqual([200, 'application/octet-stream'])
    const refused = await get(`${dir}/file.txt`, { 'accept-encoding': 'br, identity;q=0' })
    expect(refusal(refused)).toEqual([406, 'error parsing Accept-Encoding: no acceptable encoding found, supported: [gzip]'])
    expect(refused.headers.vary).toBe('Origin')
    const refusedRange = await get(`${dir}/file.txt`, { 'accept-encoding': 'gzip, identity;q=0', range: 'bytes=0-1' })
    expect(refusal(refusedRange)).toEqual([406, 'identity encoding not acceptable for Range or conditional request'])
  })

  it('[daemon GET /files] compresses pseudo-files of unknown size', async () => {
    const plain = await get('/proc/kallsyms', {})
    const zipped = await get('/proc/kallsyms', { 'accept-encoding': 'gzip, deflate' })
    expect([zipped.headers['content-encoding'], decode(zipped).equals(plain.body)]).toEqual(['gzip', true])
  })

  it('[daemon GET /files] compresses for 32 clients at once and falls back to identity for more', async () => {
    await writeFile(`${dir}/f`, randomBytes(8 * 1024 * 1024).toString('hex'))
    const stalled = await Promise.all(Array.from({ length: 32 }, () => openDownload(`${dir}/f`, 'gzip, deflate')))
    expect(stalled.map(({ headers }) => headers['content-encoding'])).toEqual(Array(32).fill('gzip'))
    for (const header of ['gzip, deflate', 'zstd']) {
      const more = await get(`${dir}/f`, { 'accept-encoding': header })
      expect([more.status, more.headers['content-encoding'], more.body.length]).toEqual([200, undefined, 16 * 1024 * 1024])
    }
    expect(refusal(await get(`${dir}/f`, { 'accept-encoding': 'gzip, identity;q=0' }))).toEqual([
      503,
      'too many compressed downloads at once: retry, or accept identity encoding',
    ])
    for (const client of stalled) client.destroy()
    await waitForOpenFiles(dir, 0)
    expect((await get(`${dir}/f`, { 'accept-encoding': 'gzip, identity;q=0' })).status).toBe(200)
  })
})

const CODINGS = ['identity', 'gzip', 'zstd']

describe('an aborted download', () => {
  it.each(CODINGS)('[daemon GET /files] releases its descriptor and its share of memory: %s', async (coding) => {
    // What does not shrink fills the buffers of a connection with the least work.
    await writeFile(`${dir}/f`, randomBytes(24 * 1024 * 1024))
    const stalled = await Promise.all(Array.from({ length: 20 }, () => openDownload(`${dir}/f`, coding)))
    await pollUntil({ what: 'answers that wait for their clients', timeoutMs: 20_000, everyMs: 20 }, () => {
      return answersThatWait() === stalled.length || undefined
    })
    await Promise.all(Array.from({ length: 80 }, async () => (await openDownload(`${dir}/f`, coding)).destroy()))
    for (const client of stalled) client.destroy()
    await pollUntil({ what: 'the end of all transfers', timeoutMs: 20_000, everyMs: 20 }, () => countTransfers() === 0 || undefined)
    await waitForOpenFiles(dir, 0)
    expect(closedByCollector).toEqual([])
  })
})

/** Node closes a file handle that was collected and warns: then the daemon leaked it. */
const closedByCollector: string[] = []
process.on('warning', ({ message }) => {
  if (message.includes('garbage collection')) closedByCollector.push(message)
})

/** The answers in flight of the daemon in this process. */
const answers = new Set<ServerResponse>()
subscribe('http.server.response.created', (message) => {
  const { response } = message as { response: ServerResponse }
  answers.add(response)
  response.once('close', () => answers.delete(response))
})

function answersThatWait(): number {
  return [...answers].filter(({ writableNeedDrain }) => writableNeedDrain).length
}

/** A download that has begun and whose body nobody reads. */
async function openDownload(path: string, coding: string): Promise<IncomingMessage> {
  const outgoing = request(new URL(`/files?path=${path}`, daemon.url), { headers: { 'accept-encoding': coding }, agent: false }).end()
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  return incoming.on('error', () => undefined).pause()
}
