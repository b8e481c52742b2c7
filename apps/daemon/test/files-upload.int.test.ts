import { execFile } from 'node:child_process'
import { chmod, lstat, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { Secret } from '@sandyard/kit/config/secret'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fileSignature } from '../src/files/file-signature.ts'
import { type Answer, exchange } from './support/http-exchange.ts'
import { DirectoryEvents } from './support/inotify.ts'
import { createScratchDirectory } from './support/scratch-directory.ts'
import { startDaemon, type TestDaemon } from './support/test-daemon.ts'

const run = promisify(execFile)

let daemon: TestDaemon
let scratch: Awaited<ReturnType<typeof createScratchDirectory>>
let dir: string

beforeAll(async () => {
  process.umask(0o022)
  daemon = await startDaemon()
})
afterAll(() => daemon[Symbol.asyncDispose]())
beforeEach(async () => {
  scratch = await createScratchDirectory()
  dir = scratch.path
})
afterEach(() => scratch[Symbol.asyncDispose]())

type Headers = Record<string, string | string[]>

function put(path: string, body: string | Buffer, headers: Headers = {}): Promise<Answer> {
  return exchange(daemon.url, {
    method: 'POST',
    path: `/files?username=daemon&path=${encodeURIComponent(path)}`,
    headers: { 'content-type': 'application/octet-stream', ...headers },
    body,
  })
}

const part = (disposition: string, data: string) => `--XX\r\nContent-Disposition: ${disposition}\r\n\r\n${data}\r\n`
const file = (name: string, data: string) => part(`form-data; name="file"; filename="${name}"`, data)

interface Form {
  readonly query?: string
  readonly headers?: Headers
  readonly end?: string
}

function putParts(parts: readonly string[], { query = '', headers = {}, end = '--XX--\r\n' }: Form = {}): Promise<Answer> {
  return exchange(daemon.url, {
    method: 'POST',
    path: `/files?username=daemon${query}`,
    headers: { 'content-type': 'multipart/form-data; boundary=XX', ...headers },
    body: Buffer.from([...parts, end].join('')),
  })
}

function refusal(answer: Answer): [number, string] {
  const error = JSON.parse(answer.text) as { code: number; message: string }
  expect(error.code).toBe(answer.status)
  return [answer.status, error.message]
}

describe('POST /files with a raw body', () => {
  it('18.21: writes the file for the user and answers with path, name and type alone', async () => {
    const answer = await put(`${dir}/new/deep/f.txt`, 'hello')
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
    expect(JSON.parse(answer.text)).toEqual([{ path: `${dir}/new/deep/f.txt`, name: 'f.txt', type: 'file' }])
    expect(await readFile(`${dir}/new/deep/f.txt`, 'utf8')).toBe('hello')
    expect(await stat(`${dir}/new/deep/f.txt`)).toMatchObject({ uid: 1, gid: 1, mode: 0o100644 })
    expect(await stat(`${dir}/new`)).toMatchObject({ uid: 1, gid: 1, mode: 0o40755 })
  })

  it('18.15: shows a watcher exactly what upstream does', async () => {
    using events = new DirectoryEvents(dir)
    await put(`${dir}/new`, 'hello')
    expect(events.take()).toEqual(['CREATE new', 'CHMOD new', 'WRITE new'])
    await put(`${dir}/empty`, '')
    expect(events.take()).toEqual(['CREATE empty', 'CHMOD empty'])
    await put(`${dir}/new`, 'again')
    expect(events.take()).toEqual(['CHMOD new', 'WRITE new'])
    await putParts([file(`${dir}/part`, 'hello')])
    expect(events.take()).toEqual(['CREATE part', 'CHMOD part', 'WRITE part'])
    await put(`${dir}/meta`, 'hello', { 'x-metadata-a': '1' })
    expect(events.take()).toEqual(['CREATE meta', 'CHMOD meta', 'WRITE meta', 'CHMOD meta'])
  })

  it('18.16: overwrites in place, through links, keeping mode and inode', async () => {
    await writeFile(`${dir}/old`, 'a longer content')
    await chmod(`${dir}/old`, 0o600)
    await symlink('old', `${dir}/link`)
    const before = await stat(`${dir}/old`)
    await put(`${dir}/link`, 'short')
    expect(await stat(`${dir}/old`)).toMatchObject({ ino: before.ino, mode: 0o100600, uid: 1, gid: 1, size: 5 })
    expect((await lstat(`${dir}/link`)).isSymbolicLink()).toBe(true)
  })

  it('writes to devices, and refuses what may never be read', async () => {
    const answer = await exchange(daemon.url, {
      method: 'POST',
      path: '/files?path=/dev/null',
      headers: { 'content-type': 'application/octet-stream' },
      body: 'gone',
    })
    expect(JSON.parse(answer.text)).toEqual([{ path: '/dev/null', name: 'null', type: 'file' }])
    await run('mkfifo', [`${dir}/fifo`])
    expect(refusal(await put(`${dir}/fifo`, 'x'))).toEqual([400, `path is not a regular file: ${dir}/fifo`])
  })

  it('names what is wrong', async () => {
    await writeFile(`${dir}/file`, 'kept')
    const raw = (path: string, headers: Headers = {}) =>
      exchange(daemon.url, { method: 'POST', path, headers: { 'content-type': 'application/octet-stream', ...headers }, body: 'x' })
    expect(refusal(await raw('/files'))).toEqual([400, 'path query parameter is required for raw body upload'])
    expect(refusal(await put(dir, 'x'))).toEqual([400, `path is a directory: ${dir}`])
    expect(refusal(await put(`${dir}/new/`, 'x'))).toEqual([400, `path is a directory: ${dir}/new/`])
    expect(refusal(await put(`${dir}/file/x/y`, 'x'))).toEqual([500, `error ensuring directories: path is a file: ${dir}/file`])
    expect(refusal(await put('~x', 'x'))).toEqual([
      400,
      "error resolving path: failed to expand path '~x' for user 'daemon': cannot expand user-specific home dir",
    ])
    expect(refusal(await raw(`/files?path=${dir}/f&username=ghost`))).toEqual([
      401,
      "error looking up user 'ghost': user: unknown user ghost",
    ])
    expect(refusal(await raw('/files?path=/proc/version'))).toEqual([500, 'error writing file: write /proc/version: input/output error'])
    for (const type of ['text/plain', 'garbage', 'application/octet-stream; a=b; a=c', '']) {
      expect(refusal(await raw(`/files?path=${dir}/f`, { 'content-type': type }))).toEqual([
        400,
        `unsupported content type: ${type}, expected multipart/form-data or application/octet-stream`,
      ])
    }
    expect(await readdir(dir)).toEqual(['file', 'new'])
    expect(await readFile(`${dir}/file`, 'utf8')).toBe('kept')
  })

  it('18.19: takes compressed bodies of both forms', async () => {
    await put(`${dir}/gz`, gzipSync('hello gzip'), { 'content-encoding': 'GZIP; q=1' })
    expect(await readFile(`${dir}/gz`, 'utf8')).toBe('hello gzip')
    const body = gzipSync([file(`${dir}/in-gz`, 'part'), '--XX--\r\n'].join(''))
    await exchange(daemon.url, {
      method: 'POST',
      path: '/files',
      headers: { 'content-type': 'multipart/form-data; boundary=XX', 'content-encoding': 'gzip' },
      body,
    })
    expect(await readFile(`${dir}/in-gz`, 'utf8')).toBe('part')
    await put(`${dir}/plain`, 'as is', { 'content-encoding': 'identity' })
    expect(await readFile(`${dir}/plain`, 'utf8')).toBe('as is')
  })

  it('refuses other codings and broken gzip', async () => {
    const coded = async (body: string | Buffer, coding: string) => refusal(await put(`${dir}/bad`, body, { 'content-encoding': coding }))
    const prefix = 'error decompressing request body:'
    expect(await coded('x', 'br')).toEqual([400, `${prefix} unsupported Content-Encoding: br, supported: [gzip]`])
    expect(await coded('x', 'gzip, gzip')).toEqual([400, `${prefix} unsupported Content-Encoding: gzip, gzip, supported: [gzip]`])
    expect(await coded('this is not gzip', 'gzip')).toEqual([400, `${prefix} failed to create gzip reader: gzip: invalid header`])
    expect(await coded('', 'gzip')).toEqual([400, `${prefix} failed to create gzip reader: EOF`])
    expect(await coded('\x1f', 'gzip')).toEqual([400, `${prefix} failed to create gzip reader: unexpected EOF`])
    expect(await readdir(dir)).toEqual([])
    expect(await coded(gzipSync('x'.repeat(1000)).subarray(0, 20), 'gzip')).toEqual([500, 'error writing file: unexpected EOF'])
    const corrupt = gzipSync('x')
    corrupt.writeUInt32LE(0, corrupt.length - 8)
    expect(await coded(corrupt, 'gzip')).toEqual([500, 'error writing file: gzip: invalid checksum'])
  })

  it('18.7, 3.3: takes a signed URL for writing only', async () => {
    const token = 'c'.repeat(64)
    daemon.context.state.accessToken = new Secret(token)
    try {
      const sign = (operation: 'read' | 'write') =>
        encodeURIComponent(fileSignature({ operation, path: `${dir}/f`, username: undefined, expiration: undefined }, token))
      const send = (operation: 'read' | 'write') =>
        exchange(daemon.url, {
          method: 'POST',
          path: `/files?path=${dir}/f&signature=${sign(operation)}`,
          headers: { 'content-type': 'application/octet-stream' },
          body: 'x',
        })
      expect(refusal(await send('read'))).toEqual([401, 'invalid signature'])
      expect((await send('write')).status).toBe(200)
    } finally {
      daemon.context.state.accessToken = undefined
    }
  })
})

describe('POST /files with parts', () => {
  it('18.17: takes the whole filename as the path, in UTF-8, for several files', async () => {
    const answer = await putParts([
      file(`${dir}/a/1.txt`, 'one'),
      part('form-data; name="other"', 'skipped'),
      file(`${dir}/文档 é.txt`, 'two'),
      part(`form-data; name="file"; filename*=utf-8''${encodeURIComponent(`${dir}/stár`)}`, 'three'),
      file(String.raw`${dir}/q\"b`, 'four'),
    ])
    expect(JSON.parse(answer.text).map((written: { path: string }) => written.path)).toEqual(
      ['a/1.txt', '文档 é.txt', 'stár', 'q"b'].map((name) => `${dir}/${name}`),
    )
    expect(await readFile(`${dir}/文档 é.txt`, 'utf8')).toBe('two')
    expect(await stat(`${dir}/a`)).toMatchObject({ uid: 1 })
  })

  it('18.17: prefers the path of the query, needs no filename then, and is content with nothing', async () => {
    await putParts([part('form-data; name="file"', 'text part')], { query: `&path=${dir}/t` })
    expect(await readFile(`${dir}/t`, 'utf8')).toBe('text part')
    const answer = await putParts([file('/elsewhere/x', 'named')], { query: `&path=${dir}/t` })
    expect(JSON.parse(answer.text)).toEqual([{ path: `${dir}/t`, name: 't', type: 'file' }])
    expect((await putParts([])).text).toBe('[]')
    expect((await putParts([part('attachment; name="file"; filename="/x"', '1')])).text).toBe('[]')
  })

  it('18.18: refuses a second file for one path, with what was written', async () => {
    const [one, two, three] = ['1', '2', '3'].map((name) => `${dir}/${name}`)
    const text = `you cannot upload multiple files to the same path '${one}' in one upload request, only the first specified file was uploaded`
    expect(refusal(await putParts([file(`${one}`, 'first'), file(`${one}`, 'second')]))).toEqual([400, text])
    expect(await readFile(`${one}`, 'utf8')).toBe('first')
    const several = [file(`${one}`, ''), file(`${two}`, ''), file(`${three}`, ''), file(`${one}`, '')]
    expect(refusal(await putParts(several))).toEqual([400, `${text}, also the following files were uploaded: ${two}, ${three}`])
  })

  it('names what is wrong with the form', async () => {
    expect(refusal(await putParts([part('form-data; name="file"', 'x')]))).toEqual([
      400,
      'error getting multipart custom part file name: filename not found in Content-Disposition header',
    ])
    expect(refusal(await putParts([file(`${dir}/cut`, 'arrived')], { end: '' }))).toEqual([500, 'error writing file: unexpected EOF'])
    expect(await readFile(`${dir}/cut`, 'utf8')).toBe('arrived')
    expect(refusal(await putParts(['no boundary'], { end: '' }))).toEqual([500, 'error reading form: multipart: NextPart: EOF'])
    for (const [type, reason] of [
      ['multipart/form-data', 'no multipart boundary param in Content-Type'],
      ['multipart/related; boundary=XX', "request Content-Type isn't multipart/form-data"],
      ['multipart/form-data; boundary=', "request Content-Type isn't multipart/form-data"],
    ]) {
      expect(refusal(await putParts([], { headers: { 'content-type': `${type}` } }))).toEqual([
        500,
        `error parsing multipart form: ${reason}`,
      ])
    }
  })

  it('18.43: builds one tree for many at once', async () => {
    const paths = Array.from({ length: 20 }, (_item, index) => `${dir}/tree/of/dirs/${index}`)
    const answers = await Promise.all(paths.map((path) => put(path, path)))
    expect(answers.map((answer) => answer.status)).toEqual(paths.map(() => 200))
    for (const path of paths) expect(await readFile(path, 'utf8')).toBe(path)
  })
})

describe('metadata', () => {
  it('is kept with the file, shown by Stat, and replaced as a whole', async () => {
    const answer = await put(`${dir}/f`, 'x', { 'X-Metadata-Foo': ['bar', 'second'], 'x-metadata-b-C': 'd e', 'x-metadata-empty': '' })
    const metadata = { foo: 'bar', 'b-c': 'd e', empty: '' }
    expect(JSON.parse(answer.text)).toEqual([{ path: `${dir}/f`, name: 'f', type: 'file', metadata }])
    await symlink('f', `${dir}/link`)
    for (const name of ['f', 'link']) {
      expect((await daemon.filesystem.stat({ path: `${dir}/${name}` })).entry?.metadata).toEqual(metadata)
    }
    const { entries } = await daemon.filesystem.listDir({ path: dir })
    expect(entries.map((entry) => entry.metadata)).toEqual([metadata, metadata])

    await daemon.filesystem.move({ source: `${dir}/f`, destination: `${dir}/moved` })
    await putParts([file(`${dir}/moved`, 'y')], { headers: { 'x-metadata-only': 'this' } })
    expect((await daemon.filesystem.stat({ path: `${dir}/moved` })).entry?.metadata).toEqual({ only: 'this' })
    expect(JSON.parse((await put(`${dir}/moved`, 'z')).text)).toEqual([{ path: `${dir}/moved`, name: 'moved', type: 'file' }])
    expect((await daemon.filesystem.stat({ path: `${dir}/moved` })).entry?.metadata).toEqual({})
  })

  it('leaves no file behind when it is refused', async () => {
    expect(refusal(await put(`${dir}/f`, 'x', { 'x-metadata-a': 'v'.repeat(4087) }))).toEqual([
      400,
      'invalid metadata: total metadata size 4097 exceeds 4096 bytes',
    ])
    expect(await readdir(dir)).toEqual([])
  })
})

describe('an upload that cannot be finished', () => {
  it('18.20: says what there is too little of', async (context) => {
    const disk = `${dir}/disk`
    await mkdir(disk)
    const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=256k,nr_inodes=3', 'tmpfs', disk]).then(
      () => true,
      () => false,
    )
    if (!mounted) return context.skip('no file system can be mounted here')
    try {
      const body = 'x'.repeat(400_000)
      expect(refusal(await put(`${disk}/big`, body, { 'content-length': '400000' }))).toEqual([
        507,
        'attempted to write 400000 bytes: not enough disk space available',
      ])
      expect(refusal(await put(`${disk}/big`, body, { 'transfer-encoding': 'chunked' }))).toEqual([507, 'not enough disk space available'])
      expect((await stat(`${disk}/big`)).size).toBeGreaterThan(0)
      await put(`${disk}/big`, '')
      await put(`${disk}/second`, '')
      expect(refusal(await put(`${disk}/third`, ''))).toEqual([
        507,
        `not enough inodes available: open ${disk}/third: no space left on device`,
      ])
    } finally {
      await run('umount', [disk])
    }
  })

  it('is answered while the client still sends, and the connection goes on', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const send = (path: string, body: Buffer) =>
      exchange(daemon.url, { method: 'POST', path, headers: { 'content-type': 'application/octet-stream' }, body, agent })
    const large = Buffer.alloc(8 * 1024 * 1024)
    expect((await send('/files?username=ghost', large)).status).toBe(401)
    expect((await send(`/files?path=${dir}`, large)).status).toBe(400)
    const broken = await exchange(daemon.url, {
      method: 'POST',
      path: '/files',
      headers: { 'content-type': 'multipart/form-data; boundary=XX' },
      body: Buffer.concat([Buffer.from(file(dir, 'x')), large]),
      agent,
    })
    expect(refusal(broken)).toEqual([400, `path is a directory: ${dir}`])
    expect((await send(`/files?path=${dir}/fine`, Buffer.from('x'))).status).toBe(200)
    agent.destroy()
  })

  it('keeps what arrived of a client that goes away, and no open file', async () => {
    const outgoing = request(new URL(`/files?path=${dir}/partial`, daemon.url), {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', 'content-length': '1000000' },
    })
    outgoing.on('error', () => undefined)
    outgoing.write('arrived')
    await pollUntil({ what: 'the first bytes', timeoutMs: 10_000, everyMs: 20 }, async () =>
      (await readFile(`${dir}/partial`, 'utf8').catch(() => '')) === 'arrived' ? true : undefined,
    )
    outgoing.destroy()
    await pollUntil({ what: 'the file to be closed', timeoutMs: 10_000, everyMs: 20 }, async () => {
      const fds = await readdir('/proc/self/fd')
      const paths = await Promise.all(fds.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')))
      return paths.includes(`${dir}/partial`) ? undefined : true
    })
    expect(await readFile(`${dir}/partial`, 'utf8')).toBe('arrived')
  })
})
