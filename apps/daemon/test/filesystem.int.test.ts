import { execFile } from 'node:child_process'
import { chmod, chown, link, lstat, mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { type EntryInfo, FileType } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { exchange } from './support/http-exchange.ts'
import { useDaemon } from './support/daemon-fixture.ts'
import { createScratchDirectory } from './support/scratch-directory.ts'
import { asUser, failureOf, type TestDaemon } from './support/test-daemon.ts'

const run = promisify(execFile)

const fixture = useDaemon()
let daemon: TestDaemon
let dir: string

beforeEach(async () => {
  ;({ daemon, dir } = fixture)
  await chmod(dir, 0o755)
})

async function statOf(path: string): Promise<EntryInfo> {
  const { entry } = await daemon.filesystem.stat({ path })
  if (entry === undefined) throw new Error('no entry')
  return entry
}

async function listOf(path: string, depth = 1): Promise<string[]> {
  const { entries } = await daemon.filesystem.listDir({ path, depth })
  return entries.map((entry) => entry.path)
}

describe('entries', () => {
  it('have kind, mode, permissions and owner (envd.md 18.33, 18.35, 18.44)', async () => {
    await writeFile(`${dir}/file`, 'hello', { mode: 0o640 })
    await writeFile(`${dir}/setuid`, '')
    await chown(`${dir}/setuid`, 4_000_001, 4_000_002)
    await chmod(`${dir}/setuid`, 0o4755)
    await mkdir(`${dir}/sticky`)
    await chmod(`${dir}/sticky`, 0o1777)
    await run('mkfifo', [`${dir}/fifo`])

    expect(await statOf(`${dir}/file`)).toMatchObject({
      name: 'file',
      path: `${dir}/file`,
      type: FileType.FILE,
      size: 5n,
      mode: 0o640,
      permissions: '-rw-r-----',
      owner: 'root',
      group: 'root',
      isSymlink: false,
      metadata: {},
    })
    expect(await statOf(`${dir}/setuid`)).toMatchObject({ mode: 0o755, permissions: 'urwxr-xr-x', owner: '4000001', group: '4000002' })
    expect(await statOf(`${dir}/sticky`)).toMatchObject({ type: FileType.DIRECTORY, mode: 0o777, permissions: 'dtrwxrwxrwx' })
    expect(await statOf(`${dir}/fifo`)).toMatchObject({ type: FileType.UNSPECIFIED, permissions: 'prw-r--r--' })
    expect(await statOf('/dev/null')).toMatchObject({ type: FileType.UNSPECIFIED, permissions: 'Dcrw-rw-rw-' })
    expect(await statOf('/')).toMatchObject({ name: '/', path: '/', type: FileType.DIRECTORY })
    expect((await statOf(dir)).size).toBeGreaterThan(0n)
  })

  it('have the modification time in nanoseconds, and no time at the epoch', async () => {
    await writeFile(`${dir}/f`, '')
    await run('touch', ['-d', '2001-02-03T04:05:06.123456789Z', `${dir}/f`])
    expect((await statOf(`${dir}/f`)).modifiedTime).toMatchObject({ seconds: 981_173_106n, nanos: 123_456_789 })
    await run('touch', ['-d', '1969-12-31T23:59:59.5Z', `${dir}/f`])
    expect((await statOf(`${dir}/f`)).modifiedTime).toMatchObject({ seconds: -1n, nanos: 500_000_000 })
    await utimes(`${dir}/f`, 0, 0)
    expect((await statOf(`${dir}/f`)).modifiedTime).toBeUndefined()
  })

  it('of links have kind and mode of the final target and the size of the link (envd.md 18.34)', async () => {
    await writeFile(`${dir}/file`, 'hello', { mode: 0o640 })
    await mkdir(`${dir}/d`)
    await symlink('file', `${dir}/one`)
    await symlink(`${dir}/one`, `${dir}/two`)
    await symlink('d', `${dir}/to-dir`)
    await symlink('nowhere', `${dir}/broken`)
    await symlink('loop', `${dir}/loop`)
    const common = { permissions: 'Lrwxrwxrwx', isSymlink: true }
    const file = { ...common, type: FileType.FILE, mode: 0o640, symlinkTarget: `${dir}/file` }
    expect(await statOf(`${dir}/one`)).toMatchObject({ ...file, size: 4n })
    expect(await statOf(`${dir}/two`)).toMatchObject({ ...file, size: BigInt(`${dir}/one`.length) })
    expect(await statOf(`${dir}/to-dir`)).toMatchObject({ ...common, type: FileType.DIRECTORY, symlinkTarget: `${dir}/d` })
    expect(await statOf(`${dir}/to-dir/`)).toMatchObject({
      isSymlink: false,
      permissions: 'drwxr-xr-x',
      name: 'to-dir',
      path: `${dir}/to-dir/`,
    })
    for (const name of ['broken', 'loop']) {
      expect(await statOf(`${dir}/${name}`)).toMatchObject({
        ...common,
        type: FileType.UNSPECIFIED,
        mode: 0,
        symlinkTarget: `${dir}/${name}`,
      })
    }
  })

  it('have the size as a number and zeros in JSON', async () => {
    await writeFile(`${dir}/empty`, '')
    const answer = await exchange(daemon.url, {
      method: 'POST',
      path: '/filesystem.Filesystem/Stat',
      headers: { 'content-type': 'application/json', 'connect-protocol-version': '1' },
      body: JSON.stringify({ path: `${dir}/empty` }),
    })
    expect(JSON.parse(answer.text)).toMatchObject({ entry: { name: 'empty', type: 'FILE_TYPE_FILE', size: 0, mode: 0o644, metadata: {} } })
    expect(JSON.parse(answer.text).entry).not.toHaveProperty('symlinkTarget')
  })
})

describe('paths', () => {
  afterEach(() => {
    daemon.context.state.defaultWorkdir = undefined
    daemon.context.state.defaultUser = 'root'
  })

  it.each([
    ['', '/usr/sbin'],
    ['~', '/usr/sbin'],
    ['../share', '/usr/share'],
    ['//usr/./sbin', '//usr/./sbin'],
  ])('%j of the account daemon resolves to %s (envd.md 18.29, 18.30)', async (path, resolved) => {
    const { entry } = await daemon.filesystem.stat({ path }, asUser('daemon'))
    expect(entry?.path).toBe(resolved)
  })

  it('an empty path is the default working directory, relative paths start at the home directory (envd.md 18.29)', async () => {
    daemon.context.state.defaultWorkdir = dir
    expect((await statOf('')).path).toBe(dir)
    expect(await failureOf(daemon.filesystem.stat({ path: 'nothing-here' }))).toMatchObject({
      message: 'file not found: lstat /root/nothing-here: no such file or directory',
    })
  })

  it('every operation refuses the home of another user and NUL bytes (envd.md 18.31)', async () => {
    const { filesystem } = daemon
    for (const path of ['~other/x', '/a\0b']) {
      for (const call of [
        filesystem.stat({ path }),
        filesystem.listDir({ path }),
        filesystem.makeDir({ path }),
        filesystem.remove({ path }),
        filesystem.move({ source: path, destination: `${dir}/x` }),
        filesystem.move({ source: dir, destination: path }),
      ]) {
        expect((await failureOf(call)).code).toBe('InvalidArgument')
      }
    }
  })

  it('every account may use every path (envd.md 18.32)', async () => {
    await mkdir(`${dir}/closed`, { mode: 0o700 })
    await writeFile(`${dir}/closed/secret`, 'x', { mode: 0o600 })
    const { filesystem } = daemon
    const user = asUser('daemon')
    const secret = `${dir}/closed/secret`
    expect((await filesystem.stat({ path: secret }, user)).entry?.owner).toBe('root')
    expect((await filesystem.listDir({ path: `${dir}/closed` }, user)).entries).toHaveLength(1)
    expect((await filesystem.makeDir({ path: `${dir}/closed/made` }, user)).entry?.owner).toBe('daemon')
    await filesystem.move({ source: secret, destination: `${dir}/closed/made/moved` }, user)
    await filesystem.remove({ path: `${dir}/closed` }, user)
    expect(await readdir(dir)).toEqual([])
  })

  it('an unknown account is refused', async () => {
    daemon.context.state.defaultUser = 'nobody-like-that'
    expect(await failureOf(daemon.filesystem.stat({ path: '/' }))).toEqual({
      code: 'Unauthenticated',
      message: "invalid default user: 'nobody-like-that'",
    })
    expect((await daemon.filesystem.stat({ path: '/' }, asUser('daemon'))).entry?.name).toBe('/')
  })
})

describe('Stat', () => {
  it.each([
    ['missing', 'NotFound', 'file not found: lstat {dir}/missing: no such file or directory'],
    ['missing/below', 'NotFound', 'file not found: lstat {dir}/missing/below: no such file or directory'],
    ['file/below', 'Internal', 'error getting file info: lstat {dir}/file/below: not a directory'],
    ['file/', 'Internal', 'error getting file info: lstat {dir}/file/: not a directory'],
    ['loop/below', 'Internal', 'error getting file info: lstat {dir}/loop/below: too many levels of symbolic links'],
    ['n'.repeat(256), 'Internal', `error getting file info: lstat {dir}/${'n'.repeat(256)}: file name too long`],
  ])('of %.20s fails with %s (envd.md 18.42)', async (name, code, message) => {
    await writeFile(`${dir}/file`, '')
    await symlink('loop', `${dir}/loop`)
    expect(await failureOf(daemon.filesystem.stat({ path: `${dir}/${name}` }))).toEqual({ code, message: message.replace('{dir}', dir) })
  })
})

describe('ListDir', () => {
  it('goes depth first in byte order, parents before children (envd.md 18.36, 18.38)', async () => {
    await run('mkdir', ['-p', `${dir}/b/y/z`, `${dir}/a`])
    for (const name of ['B', 'a/1', 'b/x', 'b/y/z/deep', 'Ä', 'zz', '.hidden']) await writeFile(`${dir}/${name}`, '')
    const inside = async (depth: number) => (await listOf(dir, depth)).map((path) => path.slice(dir.length + 1))
    expect(await inside(0)).toEqual(['.hidden', 'B', 'a', 'b', 'zz', 'Ä'])
    expect(await inside(1)).toEqual(await inside(0))
    expect(await inside(2)).toEqual(['.hidden', 'B', 'a', 'a/1', 'b', 'b/x', 'b/y', 'zz', 'Ä'])
    expect(await inside(4_294_967_295)).toEqual(['.hidden', 'B', 'a', 'a/1', 'b', 'b/x', 'b/y', 'b/y/z', 'b/y/z/deep', 'zz', 'Ä'])
  })

  it('keeps the requested prefix and does not enter links (envd.md 18.37)', async () => {
    await run('mkdir', ['-p', `${dir}/d/sub`])
    await writeFile(`${dir}/d/sub/file`, '')
    await symlink('sub', `${dir}/d/link`)
    await symlink('gone', `${dir}/d/broken`)
    await symlink('d', `${dir}/to`)
    expect(await listOf(`${dir}/to`, 3)).toEqual(['broken', 'link', 'sub', 'sub/file'].map((name) => `${dir}/to/${name}`))
    expect(await listOf(`${dir}//to/../to/`)).toEqual(['broken', 'link', 'sub'].map((name) => `${dir}/to/${name}`))
    const { entries } = await daemon.filesystem.listDir({ path: `${dir}/to` })
    expect(entries.map((entry) => entry.symlinkTarget)).toEqual([`${dir}/to/broken`, `${dir}/d/sub`, undefined])
  })

  it.each([
    ['file', 'InvalidArgument', 'path is not a directory: {dir}/file'],
    ['to-file', 'InvalidArgument', 'path is not a directory: {dir}/file'],
    ['missing/x', 'NotFound', 'path not found: lstat {dir}/missing: no such file or directory'],
    ['broken/x', 'NotFound', 'path not found: lstat {dir}/gone: no such file or directory'],
    ['file/x', 'Internal', 'error resolving symlink: not a directory'],
    ['loop', 'FailedPrecondition', 'cyclic symlink or chain >255 links at "{dir}/loop"'],
    ['loop/x', 'FailedPrecondition', 'cyclic symlink or chain >255 links at "{dir}/loop/x"'],
  ])('of %s fails with %s', async (name, code, message) => {
    await writeFile(`${dir}/file`, '')
    await symlink('file', `${dir}/to-file`)
    await symlink('gone', `${dir}/broken`)
    await symlink('loop', `${dir}/loop`)
    expect(await failureOf(daemon.filesystem.listDir({ path: `${dir}/${name}` }))).toEqual({ code, message: message.replace('{dir}', dir) })
  })

  it('follows 255 links and refuses 256 (envd.md 18.37)', async () => {
    await mkdir(`${dir}/0`)
    await writeFile(`${dir}/0/file`, '')
    for (let index = 1; index <= 256; index++) await symlink(String(index - 1), `${dir}/${index}`)
    expect(await listOf(`${dir}/255`)).toEqual([`${dir}/255/file`])
    expect((await failureOf(daemon.filesystem.listDir({ path: `${dir}/256` }))).code).toBe('FailedPrecondition')
    expect(await statOf(`${dir}/200`)).toMatchObject({ type: FileType.DIRECTORY, symlinkTarget: `${dir}/0` })
  })

  it('lists names that are not UTF-8', async () => {
    const bytes = Buffer.from([0x61, 0xff, 0xfe, 0x62])
    const bad = Buffer.concat([Buffer.from(`${dir}/`), bytes])
    await mkdir(bad)
    await writeFile(Buffer.concat([bad, Buffer.from('/inside')]), 'x')
    await writeFile(`${dir}/good`, '')
    const { entries } = await daemon.filesystem.listDir({ path: dir, depth: 2 })
    expect(entries.map((entry) => [entry.name, entry.size > 0n])).toEqual([
      ['a\ufffd\ufffdb', true],
      ['inside', true],
      ['good', false],
    ])
    await daemon.filesystem.remove({ path: dir })
    await expect(lstat(dir)).rejects.toThrow('ENOENT')
  })

  it('lists 100,000 entries in order', { timeout: 120_000 }, async () => {
    await using memory = await createScratchDirectory('/dev/shm')
    await run('sh', ['-c', `cd '${memory.path}' && seq 100000 | xargs touch`])
    const { entries } = await daemon.filesystem.listDir({ path: memory.path })
    expect(entries.length).toBe(100_000)
    const names = entries.map((entry) => entry.name)
    expect(names).toEqual(names.toSorted())
  })
})

describe('MakeDir', () => {
  it('creates all missing levels for the caller and does not change the others (envd.md 18.43)', async () => {
    await mkdir(`${dir}/old`)
    const [uid, gid] = [1, 1]
    const { entry } = await daemon.filesystem.makeDir({ path: `${dir}/old/new/newer` }, asUser('daemon'))
    expect(entry).toMatchObject({
      name: 'newer',
      path: `${dir}/old/new/newer`,
      owner: 'daemon',
      group: 'daemon',
      permissions: 'drwxr-xr-x',
    })
    expect(await lstat(`${dir}/old/new`)).toMatchObject({ uid, gid })
    expect(await lstat(`${dir}/old`)).toMatchObject({ uid: 0, gid: 0 })
  })

  it('succeeds for concurrent callers that create one tree (envd.md 18.43)', async () => {
    const paths = Array.from({ length: 30 }, (_item, index) => `${dir}/a/b/c/${index}`)
    await Promise.all(paths.map((path) => daemon.filesystem.makeDir({ path }, asUser('daemon'))))
    for (const path of [...paths, `${dir}/a`, `${dir}/a/b`]) expect(await lstat(path)).toMatchObject({ uid: 1, gid: 1 })
  })

  it.each([
    ['d', 'AlreadyExists', 'directory already exists: {dir}/d'],
    ['to-d', 'AlreadyExists', 'directory already exists: {dir}/to-d'],
    ['file', 'InvalidArgument', 'path already exists but it is not a directory: {dir}/file'],
    ['file/x', 'Internal', 'error getting file info: stat {dir}/file/x: not a directory'],
    ['broken', 'Internal', 'failed to chown directory: chown {dir}/broken: no such file or directory'],
  ])('on %s fails with %s (envd.md 18.40)', async (name, code, message) => {
    await mkdir(`${dir}/d`)
    await writeFile(`${dir}/file`, '')
    await symlink('d', `${dir}/to-d`)
    await symlink('gone', `${dir}/broken`)
    expect(await failureOf(daemon.filesystem.makeDir({ path: `${dir}/${name}` }))).toEqual({ code, message: message.replace('{dir}', dir) })
  })
})

describe('Move', () => {
  const move = (source: string, destination: string) =>
    daemon.filesystem.move({ source: `${dir}/${source}`, destination: `${dir}/${destination}` }, asUser('daemon'))

  it('renames, replaces files and links, and creates the parents of the destination (envd.md 18.39)', async () => {
    await writeFile(`${dir}/a`, 'a')
    await writeFile(`${dir}/b`, 'b')
    await symlink('b', `${dir}/link`)
    expect((await move('a', 'x/y/a')).entry).toMatchObject({ name: 'a', path: `${dir}/x/y/a`, owner: 'root', size: 1n })
    expect(await lstat(`${dir}/x/y`)).toMatchObject({ uid: 1 })
    await move('x/y/a', 'link')
    expect([(await lstat(`${dir}/link`)).isSymbolicLink(), await readFile(`${dir}/b`, 'utf8')]).toEqual([false, 'b'])
    await symlink('b', `${dir}/link2`)
    expect((await move('link2', 'link3')).entry).toMatchObject({ isSymlink: true, symlinkTarget: `${dir}/b` })
    expect((await move('b', 'b')).entry).toMatchObject({ name: 'b' })
  })

  it.each([
    ['missing', 'made/x', 'NotFound', 'source file not found: rename {dir}/missing {dir}/made/x: no such file or directory'],
    ['missing', 'empty', 'NotFound', 'source file not found: rename {dir}/missing {dir}/empty: no such file or directory'],
    ['file', 'empty', 'Internal', 'error renaming: rename {dir}/file {dir}/empty: file exists'],
    ['d', 'empty', 'Internal', 'error renaming: rename {dir}/d {dir}/empty: file exists'],
    ['d', 'd', 'Internal', 'error renaming: rename {dir}/d {dir}/d: file exists'],
    ['d', 'file', 'Internal', 'error renaming: rename {dir}/d {dir}/file: not a directory'],
    ['d', 'd/in/side', 'Internal', 'error renaming: rename {dir}/d {dir}/d/in/side: invalid argument'],
    ['d', 'file/x', 'Internal', 'path is a file: {dir}/file'],
  ])('%s to %s is refused (envd.md 18.39)', async (source, destination, code, message) => {
    await mkdir(`${dir}/empty`)
    await mkdir(`${dir}/d`)
    await writeFile(`${dir}/file`, '')
    expect(await failureOf(move(source, destination))).toEqual({ code, message: message.replaceAll('{dir}', dir) })
    if (destination === 'made/x') expect((await lstat(`${dir}/made`)).isDirectory()).toBe(true)
  })

  it('refuses to move to another file system (envd.md 18.39)', async () => {
    await writeFile(`${dir}/file`, 'kept')
    const destination = `/dev/shm/sandyard-test-${process.pid}`
    expect((await failureOf(daemon.filesystem.move({ source: `${dir}/file`, destination }))).message).toBe(
      `error renaming: rename ${dir}/file ${destination}: invalid cross-device link`,
    )
    expect(await readFile(`${dir}/file`, 'utf8')).toBe('kept')
  })
})

describe('Remove', () => {
  it('removes a tree without the targets of its links, and accepts a missing path (envd.md 18.41)', async () => {
    await run('sh', [
      '-c',
      `mkdir -p '${dir}/t/a/b' '${dir}/kept' && cd '${dir}/t/a/b' && seq 1500 | xargs touch && touch ../../x '${dir}/kept/y'`,
    ])
    await symlink(`${dir}/kept`, `${dir}/t/a/link`)
    await link(`${dir}/kept/y`, `${dir}/t/hard`)
    await daemon.filesystem.remove({ path: `${dir}/t` })
    await symlink('kept', `${dir}/link`)
    await daemon.filesystem.remove({ path: `${dir}/link/` })
    for (const path of ['t', 't/below', 'never/there']) await daemon.filesystem.remove({ path: `${dir}/${path}` })
    expect(await readdir(dir)).toEqual(['kept'])
    expect(await readdir(`${dir}/kept`)).toEqual(['y'])
  })

  it.each([
    ['{dir}/file/below', 'Internal', 'error removing file or directory: unlinkat {dir}/file/below: not a directory'],
    ['{dir}/file/below/it', 'Internal', 'error removing file or directory: open {dir}/file/below: not a directory'],
    ['{dir}/loop/x', 'Internal', 'error removing file or directory: open {dir}/loop: too many levels of symbolic links'],
    [`{dir}/${'n'.repeat(256)}`, 'Internal', `error removing file or directory: unlinkat {dir}/${'n'.repeat(256)}: file name too long`],
    ['{dir}/.', 'Internal', 'error removing file or directory: RemoveAll {dir}/.: invalid argument'],
    ['{dir}/d/./', 'Internal', 'error removing file or directory: RemoveAll {dir}/d/./: invalid argument'],
    ['{dir}/d/..', 'Internal', 'error removing file or directory: RemoveAll {dir}/d/..: invalid argument'],
    ['', 'InvalidArgument', 'path is required'],
    ['/', 'InvalidArgument', 'the root directory cannot be removed'],
    ['//', 'InvalidArgument', 'the root directory cannot be removed'],
  ])('of %.30j is refused (envd.md 18.29)', async (path, code, message) => {
    await mkdir(`${dir}/d`)
    await writeFile(`${dir}/file`, '')
    await symlink('loop', `${dir}/loop`)
    expect(await failureOf(daemon.filesystem.remove({ path: path.replace('{dir}', dir) }))).toEqual({
      code,
      message: message.replaceAll('{dir}', dir),
    })
    expect(await readdir(dir)).toEqual(['d', 'file', 'loop'])
  })
})
