import { execFile } from 'node:child_process'
import { chmod, lstat, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { Secret } from '@sandyard/kit/config/secret'
import { beforeEach, describe, expect, it } from 'vitest'
import { fileSignature } from '../src/files/file-signature.ts'
import { refusal, useDaemon } from './support/daemon-fixture.ts'
import { type Answer, exchange } from './support/http-exchange.ts'
import { DirectoryEvents } from './support/inotify.ts'
import type { TestDaemon } from './support/test-daemon.ts'
import { filePart, part, putFile } from './support/upload.ts'

const run = promisify(execFile)

const fixture = useDaemon()
let daemon: TestDaemon
let dir: string
beforeEach(() => {
  ;({ daemon, dir } = fixture)
})

type Headers = Record<string, string | string[]>

function put(path: string, body: string | Buffer, headers?: Headers): Promise<Answer> {
  return putFile(daemon.url, path, { body, headers })
}

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

describe('POST /files with a raw body', () => {
  it('[daemon POST /files] writes the file for the user and answers with path, name and type (envd.md 18.21)', async () => {
    const answer = await put(`${dir}/new/deep/f.txt`, 'hello')
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
    expect(JSON.parse(answer.text)).toEqual([{ path: `${dir}/new/deep/f.txt`, name: 'f.txt', type: 'file' }])
    expect(await readFile(`${dir}/new/deep/f.txt`, 'utf8')).toBe('hello')
    expect(await stat(`${dir}/new/deep/f.txt`)).toMatchObject({ uid: 1, gid: 1, mode: 0o100644 })
    expect(await stat(`${dir}/new`)).toMatchObject({ uid: 1, gid: 1, mode: 0o40755 })
  })

  it('[daemon POST /files] causes the same events as upstream (envd.md 18.15)', async () => {
    using events = new DirectoryEvents(dir)
    await put(`${dir}/new`, 'hello')
    expect(events.take()).toEqual(['CREATE new', 'CHMOD new', 'WRITE new'])
    await put(`${dir}/empty`, '')
    expect(events.take()).toEqual(['CREATE empty', 'CHMOD empty'])
    await put(`${dir}/new`, 'again')
    expect(events.take()).toEqual(['CHMOD new', 'WRITE new'])
    await putParts([filePart(`${dir}/part`, 'hello')])
    expect(events.take()).toEqual(['CREATE part', 'CHMOD part', 'WRITE part'])
    await put(`${dir}/meta`, 'hello', { 'x-metadata-a': '1' })
    expect(events.take()).toEqual(['CREATE meta', 'CHMOD meta', 'WRITE meta', 'CHMOD meta'])
  })

  it('[daemon POST /files] overwrites in place, through links, keeping mode and inode (envd.md 18.16)', async () => {
    await writeFile(`${dir}/old`, 'a longer content')
    await chmod(`${dir}/old`, 0o600)
    await symlink('old', `${dir}/link`)
    const before = await stat(`${dir}/old`)
    await put(`${dir}/link`, 'short')
    expect(await stat(`${dir}/old`)).toMatchObject({ ino: before.ino, mode: 0o100600, uid: 1, gid: 1, size: 5 })
    expect((await lstat(`${dir}/link`)).isSymbolicLink()).toBe(true)
  })

  it('[daemon POST /files] writes to devices and pseudo-files, and refuses FIFOs and sockets', async () => {
    const answer = await exchange(daemon.url, {
      method: 'POST',
      path: '/files?path=/dev/null',
      headers: { 'content-type': 'application/octet-stream' },
      body: 'gone',
    })
    expect(JSON.parse(answer.text)).toEqual([{ path: '/dev/null', name: 'null', type: 'file' }])
    const setting = '/proc/self/oom_score_adj'
    const value = await readFile(setting, 'utf8')
    expect((await put(setting, value)).status).toBe(200)
    expect((await exchange(daemon.url, { path: `/files?path=${setting}` })).text).toBe(value)
    await run('mkfifo', [`${dir}/fifo`])
    expect(refusal(await put(`${dir}/fifo`, 'x'))).toEqual([400, `path is not a regular file: ${dir}/fifo`])
  })

  it('[daemon POST /files] answers with the documented errors', async () => {
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

  it('[daemon POST /files] takes compressed bodies of both forms (envd.md 18.19)', async () => {
    await put(`${dir}/gz`, gzipSync('hello gzip'), { 'content-encoding': 'GZIP; q=1' })
    expect(await readFile(`${dir}/gz`, 'utf8')).toBe('hello gzip')
    const body = gzipSync([filePart(`${dir}/in-gz`, 'part'), '--XX--\r\n'].join(''))
    await exchange(daemon.url, {
      method: 'POST',
      path: '/files',
      headers: { 'content-type': 'multipart/form-data; boundary=XX', 'content-encoding': 'gzip' },
      body,
    })
    expect(await readFile(`${dir}/in-gz`, 'utf8')).toBe('part')
    for (const coding of ['identity', '', ['identity', 'gzip']]) {
      await put(`${dir}/plain`, 'as is', { 'content-encoding': coding })
      expect(await readFile(`${dir}/plain`, 'utf8')).toBe('as is')
    }
  })

  it('[daemon POST /files] refuses other codings and broken gzip', async () => {
    const coded = async (body: string | Buffer, coding: string) => refusal(await put(`${dir}/bad`, body, { 'content-encoding': coding }))
    const prefix = 'error decompressing request body:'
    expect(await coded('x', 'br')).toEqual([400, `${prefix} unsupported Content-Encoding: br, supported: [gzip]`])
    expect(await coded('x', 'gzip, gzip')).toEqual([400, `${prefix} unsupported Content-Encoding: gzip, gzip, supported: [gzip]`])
    expect(await coded('x', ';gzip')).toEqual([400, `${prefix} unsupported Content-Encoding: ;gzip, supported: [gzip]`])
    expect(await coded('this is not gzip', 'gzip')).toEqual([400, `${prefix} failed to create gzip reader: gzip: invalid header`])
    expect(await coded('', 'gzip')).toEqual([400, `${prefix} failed to create gzip reader: EOF`])
    expect(await coded('\x1f', 'gzip')).toEqual([400, `${prefix} failed to create gzip reader: unexpected EOF`])
    expect(await readdir(dir)).toEqual([])
    expect(await coded(gzipSync('x'.repeat(1000)).subarray(0, 20), 'gzip')).toEqual([500, 'error writing file: unexpected EOF'])
    const corrupt = gzipSync('x')
    corrupt.writeUInt32LE(0, corrupt.length - 8)
    expect(await coded(corrupt, 'gzip')).toEqual([500, 'error writing file: gzip: invalid checksum'])
  })

  it('[daemon POST /files] takes a signed URL for writing only', async () => {
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
  it('[daemon POST /files] takes the whole filename as the path, in UTF-8, for several files (envd.md 18.17)', async () => {
    const answer = await putParts([
      filePart(`${dir}/a/1.txt`, 'one'),
      part('form-data; name="other"', 'skipped'),
      filePart(`${dir}/文档 é.txt`, 'two'),
      part(`form-data; name="file"; filename*=utf-8''${encodeURIComponent(`${dir}/stár`)}`, 'three'),
      filePart(String.raw`${dir}/q\"b`, 'four'),
    ])
    expect(JSON.parse(answer.text).map((written: { path: string }) => written.path)).toEqual(
      ['a/1.txt', '文档 é.txt', 'stár', 'q"b'].map((name) => `${dir}/${name}`),
    )
    expect(await readFile(`${dir}/文档 é.txt`, 'utf8')).toBe('two')
    expect(await stat(`${dir}/a`)).toMatchObject({ uid: 1 })
  })

  it('[daemon POST /files] prefers the path of the query, needs no filename then, and accepts a form without files (envd.md 18.17)', async () => {
    await putParts([part('form-data; name="file"', 'text part')], { query: `&path=${dir}/t` })
    expect(await readFile(`${dir}/t`, 'utf8')).toBe('text part')
    const answer = await putParts([filePart('/elsewhere/x', 'named')], { query: `&path=${dir}/t` })
    expect(JSON.parse(answer.text)).toEqual([{ path: `${dir}/t`, name: 't', type: 'file' }])
    expect((await putParts([])).text).toBe('[]')
    expect((await putParts([part('attachment; name="file"; filename="/x"', '1')])).text).toBe('[]')
  })

  it('[daemon POST /files] refuses a second file for one path and keeps the first (envd.md 18.18)', async () => {
    const [one, two, three] = ['1', '2', '3'].map((name) => `${dir}/${name}`)
    const text = `you cannot upload multiple files to the same path '${one}' in one upload request, only the first specified file was uploaded`
    expect(refusal(await putParts([filePart(`${one}`, 'first'), filePart(`${one}`, 'second')]))).toEqual([400, text])
    expect(await readFile(`${one}`, 'utf8')).toBe('first')
    const several = [filePart(`${one}`, ''), filePart(`${two}`, ''), filePart(`${three}`, ''), filePart(`${one}`, '')]
    expect(refusal(await putParts(several))).toEqual([400, `${text}, also the following files were uploaded: ${two}, ${three}`])
  })

  it('[daemon POST /files] answers with the documented errors of forms', async () => {
    expect(refusal(await putParts([part('form-data; name="file"', 'x')]))).toEqual([
      400,
      'error getting multipart custom part file name: filename not found in Content-Disposition header',
    ])
    expect(refusal(await putParts([filePart(`${dir}/cut`, 'arrived')], { end: '' }))).toEqual([500, 'error writing file: unexpected EOF'])
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

  it('[daemon POST /files] decodes quoted-printable parts and no other encoding', async () => {
    const coded = (coding: string, data: string) =>
      `--XX\r\nContent-Disposition: form-data; name="file"\r\nContent-Transfer-Encoding: ${coding}\r\n\r\n${data}\r\n`
    const send = (coding: string, data: string) => putParts([coded(coding, data)], { query: `&path=${dir}/f` })
    await send('Quoted-Printable', 'a=3Db=\r\nc \r\n')
    expect(await readFile(`${dir}/f`, 'utf8')).toBe('a=bc\r\n')
    await send('base64', 'YWI=')
    expect(await readFile(`${dir}/f`, 'utf8')).toBe('YWI=')
    expect(refusal(await send('quoted-printable', 'kept\x01'))).toEqual([
      500,
      'error writing file: quotedprintable: invalid unescaped byte 0x01 in body',
    ])
    expect(await readFile(`${dir}/f`, 'utf8')).toBe('kept')
  })

  it('[daemon POST /files] builds one tree for many concurrent uploads (envd.md 18.43)', async () => {
    const paths = Array.from({ length: 20 }, (_item, index) => `${dir}/tree/of/dirs/${index}`)
    const answers = await Promise.all(paths.map((path) => put(path, path)))
    expect(answers.map((answer) => answer.status)).toEqual(paths.map(() => 200))
    for (const path of paths) expect(await readFile(path, 'utf8')).toBe(path)
  })
})

describe('names that are not text', () => {
  it('[daemon POST /files] [daemon GET /files] are bytes, in the query and in forms', async () => {
    const send = (method: string, path: string) =>
      exchange(daemon.url, { method, path, headers: { 'content-type': 'application/octet-stream' }, body: method === 'GET' ? '' : 'bytes' })
    const written = await send('POST', `/files?path=${dir}/d%ff/x%c3`)
    expect(JSON.parse(written.text)).toEqual([{ path: `${dir}/d\ufffd/x\ufffd`, name: 'x\ufffd', type: 'file' }])
    const [name] = await readdir(Buffer.from(`${dir}/d\xff`, 'latin1'), { encoding: 'latin1' })
    expect(name).toBe('x\xc3')
    const read = await send('GET', `/files?path=${dir}/d%ff/x%c3`)
    expect([read.text, read.headers['content-disposition']]).toEqual(['bytes', "inline; filename*=utf-8''x%C3"])
    expect(refusal(await send('GET', `/files?path=${dir}/d%fe`))).toEqual([404, `path '${dir}/d\ufffd' does not exist`])

    const form = Buffer.from(`${filePart(`${dir}/\xe9`, 'latin')}--XX--\r\n`, 'latin1')
    const headers = { 'content-type': 'multipart/form-data; boundary=XX' }
    await exchange(daemon.url, { method: 'POST', path: '/files', headers, body: form })
    expect((await send('GET', `/files?path=${dir}/%e9`)).text).toBe('latin')
  })

  it('[daemon POST /files] [daemon GET /files] get an error that names the problem', async () => {
    await symlink('loop', `${dir}/loop`)
    const long = `${dir}/${'d'.repeat(256)}`
    const deep = `${dir}${`/${'d'.repeat(200)}`.repeat(21)}`
    const get = (path: string) => exchange(daemon.url, { path: `/files?path=${encodeURIComponent(path)}` })
    for (const [path, text] of [
      [long, 'file name too long'],
      [deep, 'file name too long'],
      [`${dir}/loop`, 'too many levels of symbolic links'],
    ] as const) {
      expect(refusal(await get(path))).toEqual([500, `error checking if path exists '${path}': stat ${path}: ${text}`])
    }
    expect(refusal(await put(long, 'x'))).toEqual([500, `error getting file info: stat ${long}: file name too long`])
    expect(refusal(await put(`${dir}/loop`, 'x'))).toEqual([
      500,
      `error getting file info: stat ${dir}/loop: too many levels of symbolic links`,
    ])
    expect(refusal(await put(`${dir}/a\0b`, 'x'))[0]).toBe(400)
    expect(refusal(await get(`${dir}/a\0b`))[0]).toBe(400)
    expect(await readdir(dir)).toEqual(['loop'])
  })
})

describe('metadata', () => {
  it('[daemon POST /files] is stored with the file, returned by Stat, and replaced as a whole (envd.md 18.16)', async () => {
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
    await putParts([filePart(`${dir}/moved`, 'y')], { headers: { 'x-metadata-only': 'this' } })
    expect((await daemon.filesystem.stat({ path: `${dir}/moved` })).entry?.metadata).toEqual({ only: 'this' })
    expect(JSON.parse((await put(`${dir}/moved`, 'z')).text)).toEqual([{ path: `${dir}/moved`, name: 'moved', type: 'file' }])
    expect((await daemon.filesystem.stat({ path: `${dir}/moved` })).entry?.metadata).toEqual({})
  })

  it('[daemon POST /files] names the attribute that does not fit into the file system', async () => {
    const answer = await put(`${dir}/f`, 'x', { 'x-metadata-a': 'v'.repeat(4080) })
    // Of the usual file systems only ext4 has so little room.
    if (answer.status === 200) return
    const text = `not enough space for file metadata: xattr.FSet ${dir}/f user.e2b.a: no space left on device`
    expect(refusal(answer)).toEqual([507, text])
  })

  it('[daemon POST /files] leaves no file behind when it is refused', async () => {
    expect(refusal(await put(`${dir}/f`, 'x', { 'x-metadata-a': 'v'.repeat(4087) }))).toEqual([
      400,
      'invalid metadata: total metadata size 4097 exceeds 4096 bytes',
    ])
    expect(await readdir(dir)).toEqual([])
  })
})
