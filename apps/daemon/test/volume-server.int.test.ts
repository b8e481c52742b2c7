import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, link, lstat, mkdir, readdir, readFile, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { VOLUME_KEY_HEADER } from '../src/volume-server/server.ts'
import { createScratchDirectory } from './support/scratch-directory.ts'
import { type ContentAnswer, VOLUME_KEY, VolumeServerProcess } from './support/volume-server.ts'

const stack = new AsyncDisposableStack()
/** A directory with the volume, and a secret beside it. */
let outside: string
let volume: string
let server: VolumeServerProcess
let counter = 0
/** A directory of the volume of its own for each test, as the service names it. */
let dir: string

beforeAll(async () => {
  outside = stack.use(await createScratchDirectory()).path
  volume = join(outside, 'volume')
  await mkdir(volume)
  await writeFile(join(outside, 'secret'), 'outside')
  server = stack.use(await VolumeServerProcess.start(volume))
})
afterAll(() => stack.disposeAsync())
beforeEach(async () => {
  dir = `/t${(counter += 1)}`
  await mkdir(volume + dir)
})

const at = (path: string): string => volume + dir + path
const ask = (method: string, path: string, init?: RequestInit & { readonly query?: string }): Promise<ContentAnswer> =>
  server.ask(method, `${path.split(' ')[0]}?path=${encodeURIComponent(dir + (path.split(' ')[1] ?? ''))}${init?.query ?? ''}`, init)
const put = (path: string, body: string, query = ''): Promise<ContentAnswer> => ask('PUT', `/file ${path}`, { body, query })
const failure = (code: string, message: unknown = expect.any(String)): object => ({ code, message })
const leftovers = async (): Promise<string[]> => (await readdir(volume)).filter((name) => name.startsWith('.sandyard'))

describe('the key', () => {
  it('is needed by every request', async () => {
    for (const [method, path] of [
      ['GET', '/path?path=/'],
      ['PUT', `/file?path=${dir}/x`],
      ['DELETE', `/path?path=${dir}`],
      ['GET', '/nothing'],
    ] as const) {
      for (const key of ['', 'another', `${VOLUME_KEY} `.repeat(2)]) {
        const answer = await server.ask(method, path, { headers: { [VOLUME_KEY_HEADER]: key } })
        expect(answer).toMatchObject({ status: 401, json: failure('UNAUTHENTICATED') })
      }
    }
    expect((await server.ask('GET', `/path?path=${dir}`)).status).toBe(200)
  })
})

describe('-measure-ms', () => {
  const MAIN = join(import.meta.dirname, '../src/volume-server/main.ts')
  const measure = (root: string, ms: number) =>
    execFileSync(process.execPath, [MAIN, `-root=${root}`, `-measure-ms=${ms}`], { encoding: 'utf8', stdio: 'pipe' })

  it('prints the bytes of all files, each once, and follows no link', async () => {
    const root = at('/measured')
    await mkdir(join(root, 'a/b'), { recursive: true })
    await writeFile(join(root, 'a/b/ü\n'), '12345')
    await link(join(root, 'a/b/ü\n'), join(root, 'again'))
    await writeFile(join(root, '.hidden'), 'x'.repeat(1000))
    await symlink('../../secret', join(root, 'to-secret'))
    await symlink('/', join(root, 'to-root'))
    expect(measure(root, 60_000)).toBe(`bytes=${5 + 1000 + '../../secret'.length + 1}\n`)
  })

  it('fails when the time is over', async () => {
    const root = at('/late')
    await mkdir(root)
    for (let file = 0; file < 2000; file += 1) await writeFile(join(root, `f${file}`), '')
    expect(() => measure(root, 1)).toThrow(/TimeoutError|due to timeout/)
  })
})

describe('/path', () => {
  it('GET describes files, directories, links and other entries', async () => {
    await writeFile(at('/f'), '12345')
    await utimes(at('/f'), 1000, 2000)
    await symlink('/etc/passwd', at('/l'))
    execFileSync('sh', ['-c', 'mkfifo "$0"', at('/p')])
    const stats = await lstat(at('/f'))
    expect(await ask('GET', '/path /f')).toMatchObject({
      status: 200,
      json: {
        name: 'f',
        type: 'file',
        path: `${dir}/f`,
        size: 5,
        mode: stats.mode & 0o777,
        uid: 0,
        gid: 0,
        atime: '1970-01-01T00:16:40.000Z',
        mtime: '1970-01-01T00:33:20.000Z',
      },
    })
    expect((await ask('GET', '/path /l')).json).toMatchObject({ type: 'symlink', target: '/etc/passwd' })
    expect((await ask('GET', '/path /p')).json).toMatchObject({ type: 'unknown' })
    expect((await server.ask('GET', '/path?path=/')).json).toMatchObject({ name: '/', path: '/', type: 'directory' })
    expect((await ask('GET', '/path')).json).not.toHaveProperty('target')
  })

  it('GET names a missing path and a file within the path', async () => {
    await writeFile(at('/f'), '')
    expect(await ask('GET', '/path /no')).toMatchObject({
      status: 404,
      json: failure('PATH_NOT_FOUND', `failed to stat: "${dir}/no" not found.`),
    })
    expect(await ask('GET', '/path /f/x')).toMatchObject({
      status: 400,
      json: failure('INVALID_REQUEST', expect.stringContaining('a component of the path is a file, but must be a directory')),
    })
  })

  it('refuses a missing, an empty, a repeated and an impossible path', async () => {
    for (const query of ['', '?path=', '?path=%00', '?path=/a&path=/b', `?path=${'a/'.repeat(2100)}b`]) {
      expect(await server.ask('GET', `/path${query}`), query).toMatchObject({ status: 400, json: failure('INVALID_REQUEST') })
    }
    const long = await ask('GET', `/path /${'n'.repeat(300)}`)
    expect(long).toMatchObject({ status: 400, json: failure('INVALID_REQUEST') })
  })

  it('PATCH changes only the given fields', async () => {
    await writeFile(at('/f'), '')
    await chmod(at('/f'), 0o640)
    const patch = (body: unknown): Promise<ContentAnswer> => ask('PATCH', '/path /f', { body: JSON.stringify(body) })
    expect((await patch({})).json).toMatchObject({ uid: 0, gid: 0, mode: 0o640 })
    expect((await patch({ uid: 7 })).json).toMatchObject({ uid: 7, gid: 0, mode: 0o640 })
    expect((await patch({ gid: 8, mode: 0o4604 })).json).toMatchObject({ uid: 7, gid: 8, mode: 0o604 })
    expect((await lstat(at('/f'))).mode & 0o7777).toBe(0o604)
    for (const bad of [[], 'x', { uid: -1 }, { gid: 4_294_967_295 }, { mode: 1.5 }, { mode: '7' }]) {
      expect(await patch(bad), JSON.stringify(bad)).toMatchObject({ status: 400, json: failure('INVALID_REQUEST') })
    }
    expect(await ask('PATCH', '/path /f', { body: '{' })).toMatchObject({ status: 400 })
    expect(await ask('PATCH', '/path /no', { body: '{"mode":1}' })).toMatchObject({
      status: 404,
      json: failure('PATH_NOT_FOUND', `failed to chmod: "${dir}/no" not found.`),
    })
    expect((await ask('PATCH', '/path /no', { body: '{"uid":1}' })).json?.['message']).toBe(`failed to chown: "${dir}/no" not found.`)
  })

  it('DELETE removes a whole tree, and links but not their targets', async () => {
    await mkdir(at('/tree/a/b'), { recursive: true })
    await writeFile(at('/tree/a/b/f'), '')
    await writeFile(at('/kept'), 'kept')
    await symlink(join(outside, 'secret'), at('/tree/out'))
    await symlink('../kept', at('/tree/in'))
    expect(await ask('DELETE', '/path /tree')).toMatchObject({ status: 204, text: '' })
    expect(await readdir(at(''))).toEqual(['kept'])
    expect(await ask('DELETE', '/path /tree')).toMatchObject({
      status: 404,
      json: failure('PATH_NOT_FOUND', `failed to delete: "${dir}/tree" not found.`),
    })
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('outside')
  })

  it('DELETE removes a tree that is deeper than the longest path', async () => {
    execFileSync(
      'bash',
      ['-c', 'i=0; while [ $i -lt 60 ]; do mkdir "$0" && cd -P "$0" && touch f || exit 1; i=$((i+1)); done', 'd'.repeat(200)],
      {
        cwd: at(''),
      },
    )
    expect(await ask('DELETE', `/path /${'d'.repeat(200)}`)).toMatchObject({ status: 204 })
    expect(await readdir(at(''))).toEqual([])
    expect(await leftovers()).toEqual([])
  })

  it('DELETE refuses the root, however it is written', async () => {
    for (const path of ['/', '.', '..', `${dir}/..`, '/../..']) {
      expect(await server.ask('DELETE', `/path?path=${path}`)).toMatchObject({
        status: 400,
        json: failure('CANNOT_DELETE_ROOT', 'cannot delete root'),
      })
    }
    expect(await readdir(volume)).not.toEqual([])
  })
})

describe('/dir', () => {
  const list = async (query = ''): Promise<string[]> =>
    (JSON.parse((await ask('GET', '/dir', { query })).text) as { path: string }[]).map(({ path }) => path.slice(dir.length))

  it('GET lists to a depth, each directory followed by its own entries', async () => {
    await mkdir(at('/b/c/d'), { recursive: true })
    for (const file of ['/a', '/b/f', '/b/c/d/g', '/z']) await writeFile(at(file), '')
    await symlink('b', at('/link'))
    const one = ['/a', '/b', '/link', '/z']
    expect(await list()).toEqual(one)
    expect(await list('&depth=0')).toEqual(one)
    expect(await list('&depth=2')).toEqual(['/a', '/b', '/b/c', '/b/f', '/link', '/z'])
    expect(await list('&depth=10')).toEqual(['/a', '/b', '/b/c', '/b/c/d', '/b/c/d/g', '/b/f', '/link', '/z'])
    expect((await ask('GET', '/dir /b/c/d')).json).toMatchObject([{ name: 'g', type: 'file' }])
  })

  it('GET lists an empty directory and thousands of entries', async () => {
    expect(await list()).toEqual([])
    execFileSync('sh', ['-c', 'seq -f file%05.0f 1 5000 | xargs touch'], { cwd: at('') })
    const found = await list()
    expect(found).toHaveLength(5000)
    expect(found).toEqual(found.toSorted())
  })

  it('GET refuses bad depths, a missing directory and a file', async () => {
    await writeFile(at('/f'), '')
    expect(await ask('GET', '/dir', { query: '&depth=11' })).toMatchObject({
      status: 400,
      json: failure('DEPTH_OUT_OF_RANGE', 'depth must be between 1 and 10'),
    })
    for (const depth of ['-1', 'x', '', '99999999999']) {
      expect(await ask('GET', '/dir', { query: `&depth=${depth}` })).toMatchObject({ status: 400, json: failure('INVALID_REQUEST') })
    }
    expect(await ask('GET', '/dir /no')).toMatchObject({
      status: 404,
      json: failure('PATH_NOT_FOUND', `failed to read: "${dir}/no" not found.`),
    })
    expect(await ask('GET', '/dir /f')).toMatchObject({ status: 400, json: failure('INVALID_REQUEST') })
  })

  it('POST makes a directory with the default and with a given owner and mode', async () => {
    expect(await ask('POST', '/dir /d')).toMatchObject({
      status: 201,
      json: { name: 'd', type: 'directory', mode: 0o777, uid: 9090, gid: 9090 },
    })
    const given = await ask('POST', '/dir /e', { query: '&uid=5&gid=6&mode=488' })
    expect(given).toMatchObject({ status: 201, json: { mode: 0o750, uid: 5, gid: 6 } })
  })

  it('POST refuses what exists, and a missing parent', async () => {
    await writeFile(at('/f'), '')
    await mkdir(at('/d'))
    for (const path of ['/f', '/d'])
      expect(await ask('POST', `/dir ${path}`)).toMatchObject({ status: 409, json: failure('PATH_ALREADY_EXISTS') })
    expect(await ask('POST', '/dir /no/d')).toMatchObject({ status: 404, json: failure('PATH_NOT_FOUND') })
    expect(await ask('POST', '/dir /f/d')).toMatchObject({ status: 400, json: failure('INVALID_REQUEST') })
    expect(await ask('POST', '/dir /x', { query: '&force=maybe' })).toMatchObject({ status: 400, json: failure('INVALID_REQUEST') })
  })

  it('POST with force makes parents, and leaves an existing directory unchanged', async () => {
    const force = { query: '&force=true&uid=5&gid=5&mode=448' }
    expect(await ask('POST', '/dir /p/q/r', force)).toMatchObject({ status: 201, json: { mode: 0o700, uid: 5 } })
    expect((await ask('GET', '/path /p/q')).json).toMatchObject({ mode: 0o777, uid: 5, gid: 5 })
    expect(await ask('POST', '/dir /p/q', { query: '&force=true&mode=0&uid=1' })).toMatchObject({
      status: 201,
      json: { mode: 0o777, uid: 5 },
    })
    await writeFile(at('/f'), '')
    expect(await ask('POST', '/dir /f', force)).toMatchObject({ status: 409, json: failure('PATH_ALREADY_EXISTS') })
    expect(await ask('POST', '/dir /f/x/y', force)).toMatchObject({ status: 400, json: failure('INVALID_REQUEST') })
    expect(await server.ask('POST', '/dir?path=/&force=true')).toMatchObject({ status: 201, json: { name: '/' } })
  })
})

describe('/file', () => {
  it('PUT and GET carry any bytes, with the defaults', async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7919) % 256))
    const answer = await ask('PUT', '/file /f', { body: bytes, headers: { 'content-type': 'application/json' } })
    expect(answer).toMatchObject({ status: 201, json: { name: 'f', type: 'file', size: 300_000, mode: 0o666, uid: 9090, gid: 9090 } })
    expect((await readFile(at('/f'))).equals(bytes)).toBe(true)
    const { status, headers } = await ask('GET', '/file /f')
    expect([status, headers.get('content-type'), headers.get('content-length')]).toEqual([200, 'application/octet-stream', '300000'])
    expect((await put('/empty', '')).json).toMatchObject({ size: 0 })
    expect(await ask('GET', '/file /empty')).toMatchObject({ status: 200, text: '' })
  })

  it('PUT refuses an existing file and missing parents, before the whole body', async () => {
    await put('/f', 'old')
    expect(await put('/f', 'new')).toMatchObject({ status: 409, json: failure('PATH_ALREADY_EXISTS') })
    expect(await put('/no/f', 'new')).toMatchObject({ status: 404, json: failure('PATH_NOT_FOUND') })
    expect(await put('/f/f', 'new')).toMatchObject({ status: 400, json: failure('INVALID_REQUEST') })
    expect(await readFile(at('/f'), 'utf8')).toBe('old')
    expect(await leftovers()).toEqual([])
  })

  it('PUT with force replaces a file and makes parents, but does not replace a directory', async () => {
    await put('/f', 'a longer text')
    expect((await put('/f', 'new', '&force=true&mode=384&uid=3&gid=4')).json).toMatchObject({ size: 3, mode: 0o600, uid: 3, gid: 4 })
    expect(await readFile(at('/f'), 'utf8')).toBe('new')
    expect(await put('/p/q/f', 'x', '&force=1')).toMatchObject({ status: 201 })
    expect((await ask('GET', '/path /p')).json).toMatchObject({ mode: 0o777, uid: 9090 })
    expect(await put('/p', 'x', '&force=true')).toMatchObject({ status: 400, json: failure('INVALID_REQUEST') })
    expect(await put('/p', 'x')).toMatchObject({ status: 409 })
    expect(await server.ask('PUT', '/file?path=/&force=true', { body: 'x' })).toMatchObject({ status: 400 })
  })

  it('PUT leaves nothing of a body that was cut', async () => {
    const { port } = new URL(server.url)
    const socket = connect(Number(port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write(
      `PUT /file?path=${dir}/cut HTTP/1.1\r\nHost: x\r\n${VOLUME_KEY_HEADER}: ${VOLUME_KEY}\r\nContent-Length: 1000000\r\n\r\nstart`,
    )
    const during = async (): Promise<true | undefined> => ((await leftovers()).length === 1 ? true : undefined)
    await pollUntil({ what: 'the upload', timeoutMs: 20_000, everyMs: 10 }, during)
    socket.destroy()
    await pollUntil({ what: 'the end', timeoutMs: 20_000, everyMs: 10 }, async () => ((await leftovers()).length === 0 ? true : undefined))
    expect(await ask('GET', '/path /cut')).toMatchObject({ status: 404 })
  })

  it('GET answers a range, and refuses one beyond the file', async () => {
    await put('/f', '0123456789')
    const range = (value: string): Promise<ContentAnswer> => ask('GET', '/file /f', { headers: { range: value } })
    for (const [value, text, of] of [
      ['bytes=2-4', '234', 'bytes 2-4/10'],
      ['bytes=7-', '789', 'bytes 7-9/10'],
      ['bytes=-2', '89', 'bytes 8-9/10'],
    ] as const) {
      const answer = await range(value)
      expect([answer.status, answer.text, answer.headers.get('content-range')]).toEqual([206, text, of])
    }
    expect(await range('bytes=0-1,4-5')).toMatchObject({ status: 200, text: '0123456789' })
    const beyond = await range('bytes=10-')
    expect(beyond).toMatchObject({ status: 416, json: failure('RANGE_NOT_SATISFIABLE') })
    expect(beyond.headers.get('content-range')).toBe('bytes */10')
  })

  it('GET refuses what is not a regular file, without waiting for it', async () => {
    execFileSync('sh', ['-c', 'mkfifo "$0"', at('/p')])
    expect(await ask('GET', '/file')).toMatchObject({ status: 400, json: failure('INVALID_REQUEST') })
    expect(await ask('GET', '/file /p')).toMatchObject({ status: 400, json: failure('INVALID_REQUEST') })
    expect(await ask('GET', '/file /no')).toMatchObject({ status: 404, json: failure('PATH_NOT_FOUND') })
  })

  it('GET ends the connection when the file becomes shorter than it has said', async () => {
    await writeFile(at('/f'), '')
    await truncate(at('/f'), 512 * 1024 * 1024)
    const answer = await fetch(`${server.url}/file?path=${dir}/f`, { headers: { [VOLUME_KEY_HEADER]: VOLUME_KEY } })
    await truncate(at('/f'), 0)
    await expect(answer.arrayBuffer()).rejects.toThrow()
  })
})

describe('the volume', () => {
  it('is never left by "..", by links and by links within paths', async () => {
    await symlink(join(outside, 'secret'), at('/absolute'))
    await symlink('../../secret', at('/relative'))
    await symlink('../../../../../../../..', at('/up'))
    await symlink('/', at('/root'))
    for (const path of ['/absolute', '/relative', `/up${outside}/secret`, `/root${outside}/secret`, `/../../../..${outside}/secret`]) {
      expect(await ask('GET', `/file ${path}`), path).toMatchObject({ status: 404 })
    }
    expect(await put(`/up${outside}/secret`, 'x', '&force=true')).toMatchObject({ status: 201 })
    expect(await put('/absolute', 'x', '&force=true')).toMatchObject({ status: 201, json: { type: 'file' } })
    expect(await ask('PATCH', '/path /relative', { body: '{"mode":0}' })).toMatchObject({ status: 404 })
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('outside')
    // What looks like the way out is a way within the volume.
    expect(await readFile(join(volume, outside, 'secret'), 'utf8')).toBe('x')
  })

  it('serves names that are not UTF-8', async () => {
    const path = encodeURIComponent(`${dir}/`)
    expect(await server.ask('PUT', `/file?path=${path}%ff`, { body: 'x' })).toMatchObject({ status: 201, json: { name: '\ufffd' } })
    expect(await readdir(at(''), 'buffer')).toEqual([Buffer.of(0xff)])
    expect(await server.ask('GET', `/file?path=${path}%ff`)).toMatchObject({ status: 200, text: 'x' })
    expect((await ask('GET', '/dir')).status).toBe(200)
  })
})

describe('the service', () => {
  it('answers unknown operations and methods', async () => {
    expect(await server.ask('GET', '/else?path=/')).toMatchObject({ status: 404, json: failure('PATH_NOT_FOUND') })
    const { status, headers } = await server.ask('POST', '/file?path=/')
    expect([status, headers.get('allow')]).toEqual([405, 'GET, PUT'])
  })

  it('ends when it gets no request, also when others knock without the key', async () => {
    await using idle = await VolumeServerProcess.start(volume, ['-idle-ms=50'])
    expect(await idle.exited).toEqual([0, null])
  })

  it('removes what a killed one left', async () => {
    await using scratch = await createScratchDirectory()
    const left = join(scratch.path, '.sandyard-temporary-0c5b8e0e-3f0b-4b7e-9a53-6d2d8f1c2a77')
    await mkdir(left)
    await writeFile(join(left, 'f'), '')
    await writeFile(join(scratch.path, '.sandyard-temporary-x'), '')
    await using _ = await VolumeServerProcess.start(scratch.path)
    const isGone = async (): Promise<true | undefined> => ((await readdir(scratch.path)).length === 1 ? true : undefined)
    await pollUntil({ what: 'the removal', timeoutMs: 20_000, everyMs: 10 }, isGone)
  })

  it('does not start without a digest or with an unknown flag', async () => {
    await expect(VolumeServerProcess.start(volume, ['-instance='])).rejects.toThrow()
    await expect(VolumeServerProcess.start(volume, ['-else=1'])).rejects.toThrow()
  })
})
