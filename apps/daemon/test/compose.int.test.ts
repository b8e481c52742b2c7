import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { link, lstat, mkdir, readdir, readFile, readlink, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { Secret } from '@sandyard/kit/config/secret'
import { beforeEach, describe, expect, it } from 'vitest'
import { fileSignature } from '../src/files/file-signature.ts'
import { NO_MOUNT } from './support/absences.ts'
import { type Answer, exchange } from './support/http-exchange.ts'
import { DirectoryEvents } from './support/inotify.ts'
import { useDaemon } from './support/daemon-fixture.ts'
import { createScratchDirectory } from './support/scratch-directory.ts'
import { startDaemon, type TestDaemon } from './support/test-daemon.ts'

const run = promisify(execFile)

const fixture = useDaemon()
let daemon: TestDaemon
let dir: string

beforeEach(() => {
  ;({ daemon, dir } = fixture)
})

function post(body: string | object, headers: Record<string, string> = {}, query = ''): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return exchange(daemon.url, { method: 'POST', path: `/files/compose${query}`, headers, body: text })
}

/** Paths are relative to the test's directory unless they are absolute. */
function compose(sources: readonly string[], destination: string): Promise<Answer> {
  return post({ source_paths: sources.map(at), destination: at(destination), username: 'daemon' })
}

function at(path: string): string {
  return path.startsWith('/') ? path : `${dir}/${path}`
}

function write(files: Record<string, string>): Promise<unknown> {
  return Promise.all(Object.entries(files).map(([name, content]) => writeFile(at(name), content)))
}

function answer({ status, text }: Answer): [number, unknown] {
  const body = JSON.parse(text) as { code?: number; message?: string }
  if (status !== 200) expect(body.code).toBe(status)
  return [status, status === 200 ? body : body.message]
}

/** The entries of the test's directory: name and content, with `/` as the content of a directory. */
async function tree(): Promise<Record<string, string>> {
  const names = (await readdir(dir)).toSorted()
  const entries = names.map(async (name) => [name, (await stat(at(name))).isDirectory() ? '/' : await readFile(at(name), 'latin1')])
  return Object.fromEntries(await Promise.all(entries))
}

describe('[POST /files/compose] puts files together', () => {
  it('in the order of the request, as the user, and removes them; answers with path, name and type (envd.md 18.21)', async () => {
    await write({ b: 'BB', a: 'A', empty: '' })
    const made = await compose(['b', 'empty', 'a'], 'new/deep/d.bin')
    expect(answer(made)).toEqual([200, { path: `${dir}/new/deep/d.bin`, name: 'd.bin', type: 'file' }])
    expect([made.headers['content-type'], made.text.at(-1)]).toEqual(['application/json', '\n'])
    expect(await tree()).toEqual({ new: '/' })
    expect(await readFile(at('new/deep/d.bin'), 'utf8')).toBe('BBA')
    expect(await stat(at('new/deep/d.bin'))).toMatchObject({ uid: 1, gid: 1, mode: 0o100644 })
    expect(await stat(at('new'))).toMatchObject({ uid: 1, gid: 1, mode: 0o40755 })
  })

  it('in a new file without the mode, owner and metadata of the old one (envd.md 18.28)', async () => {
    await write({ a: 'A', d: 'old' })
    await run('chmod', ['600', at('d')])
    await exchange(daemon.url, {
      method: 'POST',
      path: `/files?username=root&path=${at('d')}`,
      headers: { 'content-type': 'application/octet-stream', 'x-metadata-k': 'v' },
      body: 'old',
    })
    const old = await stat(at('d'))
    await compose(['a'], 'd')
    const made = await stat(at('d'))
    expect(made).toMatchObject({ uid: 1, gid: 1, mode: 0o100644 })
    expect(made.ino).not.toBe(old.ino)
    expect((await daemon.filesystem.stat({ path: at('d') })).entry?.metadata).toEqual({})
  })

  it('for the default user, with paths relative to the home directory, and ignores the media type of the body', async () => {
    daemon.context.state.defaultUser = 'daemon'
    const { home } = (await daemon.context.accounts.lookupUser('daemon')) ?? { home: '' }
    const up = `~/${'../'.repeat(home.split('/').length)}${dir.slice(1)}`
    await write({ a: 'A', b: 'B' })
    const body = { SOURCE_PATHS: [`${up}/a`, `${up}/b`], destination: `${up}/d`, username: null, extra: true }
    const made = await post(`${JSON.stringify(body)} and more`, { 'content-type': 'no media type' })
    daemon.context.state.defaultUser = 'root'
    expect(answer(made)).toEqual([200, { path: at('d'), name: 'd', type: 'file' }])
    expect(await tree()).toEqual({ d: 'AB' })
    expect(await stat(at('d'))).toMatchObject({ uid: 1 })
  })

  it('twice if the request lists a source twice', async () => {
    await write({ a: 'A', b: 'B' })
    expect((await compose(['a', 'b', 'a'], 'd')).status).toBe(200)
    expect(await tree()).toEqual({ d: 'ABA' })
  })

  it('follows links to sources and removes the links; replaces a link at the destination', async () => {
    await write({ target: 'T', kept: 'K' })
    await symlink('target', at('source'))
    await symlink('kept', at('d'))
    expect((await compose(['source'], 'd')).status).toBe(200)
    expect(await tree()).toEqual({ d: 'T', kept: 'K', target: 'T' })
    expect((await lstat(at('d'))).isFile()).toBe(true)
  })

  it('replaces a dangling link or a pipe at the destination', async () => {
    await write({ a: 'A', b: 'B' })
    await symlink('nowhere', at('dangling'))
    await run('mkfifo', [at('pipe')])
    expect([(await compose(['a'], 'dangling')).status, (await compose(['b'], 'pipe')).status]).toEqual([200, 200])
    expect(await tree()).toEqual({ dangling: 'A', pipe: 'B' })
  })

  it('with a name of the maximum length, and with a path that is not clean', async () => {
    const longest = 'é'.repeat(127)
    await mkdir(at('x'))
    await write({ a: 'A', b: 'B' })
    expect((await compose(['a'], longest)).status).toBe(200)
    expect(answer(await compose(['b'], `${dir}//x/../${longest}x`))).toEqual([
      200,
      { path: `${dir}//x/../${longest}x`, name: `${longest}x`, type: 'file' },
    ])
    expect(await tree()).toEqual({ x: '/', [longest]: 'A', [`${longest}x`]: 'B' })
  })

  it('from other file systems, from those without sizes, and sparse ones', async () => {
    await using memory = await createScratchDirectory('/dev/shm')
    const bytes = randomBytes(1_000_003)
    await writeFile(`${memory.path}/part`, bytes)
    await writeFile(at('sparse'), 'x')
    await truncate(at('sparse'), 5_000_000)
    const version = await readFile('/proc/version')
    // Neither of the two has a size, and sendfile(2) refuses this one.
    const command = await readFile('/proc/self/cmdline')
    const sources = [`${memory.path}/part`, 'sparse', '/proc/version', '/proc/self/cmdline']
    expect((await compose(sources, 'd')).status).toBe(200)
    const whole = Buffer.concat([bytes, Buffer.from('x'), Buffer.alloc(4_999_999), version, command])
    expect((await readFile(at('d'))).equals(whole)).toBe(true)
    expect([await readdir(memory.path), await readdir(dir)]).toEqual([[], ['d']])
  })

  it('up to 1,024, and closes every descriptor', async () => {
    const names = Array.from({ length: 1024 }, (_, index) => `part-${index}`)
    await write(Object.fromEntries(names.map((name) => [name, `${name}\n`])))
    const before = await openFilesIn(dir)
    expect((await compose(names, 'd')).status).toBe(200)
    expect(await tree()).toEqual({ d: names.map((name) => `${name}\n`).join('') })
    expect(await openFilesIn(dir)).toEqual(before)
  })

  it('and causes the events of the temporary file, the destination, and the removal of each source', async () => {
    await write({ a: 'A', d: 'old' })
    using events = new DirectoryEvents(dir)
    await compose(['a'], 'd')
    const seen = events.take().map((event) => event.replaceAll(/\.[0-9a-f-]{36}\./g, '.{uuid}.'))
    const temp = 'd.e2b-compose.{uuid}.tmp'
    expect(seen).toEqual([`CREATE ${temp}`, `CHMOD ${temp}`, `WRITE ${temp}`, `MOVED_FROM ${temp}`, 'MOVED_TO d', 'REMOVE a'])
  })
})

describe('[POST /files/compose] refuses', () => {
  beforeEach(async () => {
    await write({ a: 'A', b: 'B', d: 'old' })
    await mkdir(at('directory'))
    await run('mkfifo', [at('pipe')])
    await link(at('d'), at('hard'))
    await symlink('d', at('soft'))
    await symlink('loop', at('loop'))
  })

  const unchanged = ['a', 'b', 'd', 'directory', 'hard', 'loop', 'pipe', 'soft']
  const same = (path: string) => `source path ${JSON.stringify(path)} cannot be the same as destination`

  it.each<[string, string[], string, number, (dir: string) => string]>([
    ['a missing source (envd.md 18.27)', ['a', 'gone'], 'd', 404, (dir) => `source file not found: ${dir}/gone`],
    ['a source below a file', ['a', 'b/x'], 'd', 404, (dir) => `source file not found: ${dir}/b/x`],
    ['a link to itself', ['loop'], 'd', 404, (dir) => `source file not found: ${dir}/loop`],
    ['a name that is too long', ['n'.repeat(256)], 'd', 404, (dir) => `source file not found: ${dir}/${'n'.repeat(256)}`],
    ['a directory', ['a', 'directory'], 'd', 400, (dir) => `source path is not a regular file: ${dir}/directory`],
    ['a pipe', ['pipe', 'gone'], 'd', 400, (dir) => `source path is not a regular file: ${dir}/pipe`],
    ['a device', ['/dev/zero'], 'd', 400, () => 'source path is not a regular file: /dev/zero'],
    ['the destination', ['a', 'd'], 'd', 400, (dir) => same(`${dir}/d`)],
    ['the destination in another spelling (envd.md 18.26)', ['.//d'], 'd', 400, (dir) => same(`${dir}/.//d`)],
    ['a hard link to the destination (envd.md 18.26)', ['hard'], 'd', 400, (dir) => same(`${dir}/hard`)],
    ['a link to the destination (envd.md 18.26)', ['a', 'soft'], 'd', 400, (dir) => same(`${dir}/soft`)],
    ['the target of a link at the destination (envd.md 18.26)', ['d'], 'soft', 400, (dir) => same(`${dir}/d`)],
    ['the home directory of another user', ['~bin/x'], 'd', 404, (dir) => `source file not found: ${dir}/~bin/x`],
    ['a destination below a file', ['a'], 'b/x/y', 500, (dir) => `error ensuring directories: path is a file: ${dir}/b`],
  ])('%s', async (_what, sources, destination, status, message) => {
    expect(answer(await compose(sources, destination))).toEqual([status, message(dir)])
    expect((await readdir(dir)).toSorted()).toEqual(unchanged)
    expect([await readFile(at('a'), 'utf8'), await readFile(at('d'), 'utf8'), await readlink(at('soft'))]).toEqual(['A', 'old', 'd'])
  })

  it.each(['directory', 'directory/', '.', '/'])('a directory as the destination: %s', async (destination) => {
    const [status, message] = answer(await compose(['a'], destination))
    expect(status).toBe(500)
    expect(message).toMatch(/^error finalizing compose: rename \S*\.e2b-compose\.[0-9a-f-]{36}\.tmp \S+: file exists$/)
    expect((await readdir(dir)).toSorted()).toEqual(unchanged)
  })

  it('a destination whose name is too long, or whose directory takes no files', async () => {
    const [status, message] = answer(await compose(['a'], 'n'.repeat(256)))
    expect([status, message]).toEqual([500, expect.stringMatching(/^error creating destination file: open .*\.tmp: file name too long$/)])
    expect(answer(await compose(['a'], '/proc/x'))[1]).toMatch(
      /^error creating destination file: open \/proc\/x\..*: no such file or directory$/,
    )
    expect((await readdir(dir)).toSorted()).toEqual(unchanged)
  })

  it.each<[string, number, string]>([
    ['', 400, 'invalid request body: EOF'],
    ['{"source_paths":["a"', 400, 'invalid request body: unexpected EOF'],
    ['{}', 400, 'source_paths must not be empty'],
    ['{"source_paths":["a"]}', 400, 'destination is required'],
    [
      '{"source_paths":["a"],"destination":"d","username":"nobody-here"}',
      401,
      "error looking up user 'nobody-here': user: unknown user nobody-here",
    ],
    ['{"source_paths":["a"],"destination":"d","username":""}', 401, "error looking up user '': user: unknown user "],
    [
      '{"source_paths":["~x/a"],"destination":"/d"}',
      400,
      "error resolving source path \"~x/a\": failed to expand path '~x/a' for user 'root': cannot expand user-specific home dir",
    ],
    [
      '{"source_paths":["~x/a"],"destination":"~y/d"}',
      400,
      "error resolving destination path: failed to expand path '~y/d' for user 'root': cannot expand user-specific home dir",
    ],
    [
      '{"source_paths":["/\\u0000"],"destination":"/d"}',
      400,
      'error resolving source path "/\\u0000": path "/\\u0000" contains a NUL byte',
    ],
    ['{"source_paths":[""],"destination":"/d"}', 400, 'source path is not a regular file: '],
  ])('the body %s', async (body, status, message) => {
    expect(answer(await post(body))).toEqual([status, message])
  })

  it('a body of more than 16 MiB, but accepts one with 1,024 paths of the maximum length', async () => {
    const paths = Array.from({ length: 1024 }, () => `/${'é'.repeat(2047)}`)
    const escaped = JSON.stringify({ source_paths: paths, destination: '/d' }).replaceAll('é', '\\u00e9')
    expect((await post(escaped)).status).toBe(404)
    const refused = await post(`${escaped}${' '.repeat(16 * 1024 * 1024)}`)
    expect(answer(refused)).toEqual([413, 'invalid request body: larger than 16777216 bytes'])
  })

  it('a client that has only a signature (envd.md 18.8)', async () => {
    daemon.context.state.accessToken = new Secret('secret')
    const signature = fileSignature({ path: at('d'), operation: 'write', username: 'root', expiration: undefined }, 'secret')
    const body = { source_paths: [at('a')], destination: at('d') }
    const denied = 'unauthorized access, please provide a valid access token or method signing if supported'
    expect(answer(await post(body))).toEqual([401, denied])
    expect(answer(await post(body, { 'x-access-token': 'wrong' }))).toEqual([401, denied])
    expect(answer(await post(body, {}, `?path=${at('d')}&username=root&signature=${signature}`))).toEqual([401, denied])
    expect((await post(body, { 'x-access-token': 'secret' })).status).toBe(200)
    daemon.context.state.accessToken = undefined
    expect(await readFile(at('d'), 'utf8')).toBe('A')
  })
})

describe('[POST /files/compose] under stress', () => {
  it('a full disk leaves the destination and all sources (envd.md 18.27)', async (context) => {
    await mkdir(at('disk'))
    const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', at('disk')]).then(
      () => true,
      () => false,
    )
    if (!mounted) return context.skip(NO_MOUNT)
    try {
      await write({ 'disk/d': 'old', a: 'x'.repeat(700_000), b: 'y'.repeat(700_000) })
      expect(answer(await compose(['a', 'b'], 'disk/d'))).toEqual([507, 'not enough disk space available'])
      expect(await readdir(at('disk'))).toEqual(['d'])
      expect(await readFile(at('disk/d'), 'utf8')).toBe('old')
      expect((await compose(['a'], 'disk/d')).status).toBe(200)
      expect((await tree())['b']).toBe('y'.repeat(700_000))
    } finally {
      await run('umount', [at('disk')])
    }
  })

  it('concurrent composes do not mix contents and do not remove the result of another one', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `p${index}`)
    await write(Object.fromEntries(names.map((name) => [name, name.repeat(100_000)])))
    const all = names.map((name) => name.repeat(100_000)).join('')
    const answers = await Promise.all(names.map((_, index) => compose(names, `d${index % 2}`)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses).toContain(200)
    expect(statuses.filter((status) => status !== 200 && status !== 404)).toEqual([])
    const left = await tree()
    expect(Object.keys(left).every((name) => ['d0', 'd1'].includes(name))).toBe(true)
    expect(Object.values(left).every((content) => content === all)).toBe(true)
  })

  it('a compose continues when its client disconnects', async () => {
    await write({ a: 'A', b: 'B' })
    const body = JSON.stringify({ source_paths: [at('a'), at('b')], destination: at('d') })
    const { hostname, port } = new URL(daemon.url)
    const socket = connect(Number(port), hostname)
    socket.resume().end(`POST /files/compose HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    await pollUntil({ what: 'the file', timeoutMs: 20_000, everyMs: 5 }, async () => {
      const names = await readdir(dir)
      return names.length === 1 && names[0] === 'd' ? true : undefined
    })
    expect(await tree()).toEqual({ d: 'AB' })
  })

  it('a compose during the shutdown of the daemon is refused and changes nothing', async () => {
    await write({ a: 'A', b: 'B', d: 'old' })
    await using ending = await startDaemon()
    ending.shutDown()
    const body = JSON.stringify({ source_paths: [at('a'), at('b')], destination: at('d') })
    const refused = await exchange(ending.url, { method: 'POST', path: '/files/compose', body })
    expect(answer(refused)).toEqual([503, 'the sandbox is shutting down'])
    expect(await tree()).toEqual({ a: 'A', b: 'B', d: 'old' })
  })

  it('concurrent composes of each other’s results lose no content', async () => {
    await write({ a: 'A', b: 'B' })
    for (let round = 0; round < 20; round += 1) {
      const [first, second] = await Promise.all([compose(['a', 'b'], 'c'), compose(['c'], 'a')])
      expect([200, 404]).toContain(first.status)
      expect([200, 404]).toContain(second.status)
      const left = Object.values(await tree()).join('')
      expect(left.includes('A') && left.includes('B')).toBe(true)
      await write({ a: 'A', b: 'B' })
    }
  })
})

async function openFilesIn(directory: string): Promise<string[]> {
  const names = await readdir('/proc/self/fd')
  const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')))
  return targets.filter((target) => target.startsWith(directory))
}
