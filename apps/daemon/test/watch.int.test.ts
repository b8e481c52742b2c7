import { execFile } from 'node:child_process'
import { mkdir, rm, rmdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, it } from 'vitest'
import { findUserNamespaces } from './support/absences.ts'
import { startDaemonProcess } from './support/daemon-process.ts'
import { exchange } from './support/http-exchange.ts'
import { unary } from './support/raw-rpc.ts'
import { useDaemon } from './support/daemon-fixture.ts'
import { asUser, failureOf, type TestDaemon } from './support/test-daemon.ts'
import { pollDirectory } from './support/watch.ts'

const run = promisify(execFile)

const fixture = useDaemon()
let daemon: TestDaemon
/** The watched directory; its parent is not watched. */
let dir: string

beforeEach(async () => {
  ;({ daemon } = fixture)
  dir = join(fixture.dir, 'w')
  await mkdir(dir)
})

const sh = (script: string, cwd = dir) => run('/bin/sh', ['-c', script], { cwd })

const noUserNamespaces = await findUserNamespaces()

describe('[filesystem.Filesystem/CreateWatcher] acceptance', () => {
  it('refuses files and missing paths (envd.md 18.51)', async () => {
    await sh('touch f; ln -s w ../link; ln -s nowhere ../dangling')
    const link = join(fixture.dir, 'link')
    const refusals: [path: string, recursive: boolean, code: string, message: string][] = [
      ['~other', false, 'InvalidArgument', `failed to expand path '~other' for user 'root': cannot expand user-specific home dir`],
      [`${dir}/x`, false, 'NotFound', `path ${dir}/x not found: stat ${dir}/x: no such file or directory`],
      [`${link}/../dangling`, false, 'NotFound', `path ${link}/../dangling not found: stat ${link}/../dangling: no such file or directory`],
      [`${dir}/f`, false, 'InvalidArgument', `path ${dir}/f not a directory: not a directory`],
      [`${dir}/f/x`, false, 'Internal', `error statting path ${dir}/f/x: stat ${dir}/f/x: not a directory`],
      [link, true, 'Internal', `error adding path ${link} to watcher: fsnotify: not a directory: "${link}"`],
      [`${link}/`, true, 'Internal', `error adding path ${link}/ to watcher: fsnotify: not a directory: "${link}"`],
    ]
    for (const [path, recursive, code, message] of refusals) {
      expect(await failureOf(daemon.filesystem.createWatcher({ path, recursive }, asUser('root'))), path).toEqual({ code, message })
      const stream = daemon.filesystem.watchDir({ path, recursive }, asUser('root'))[Symbol.asyncIterator]()
      expect(await failureOf(stream.next()), path).toEqual({ code, message })
    }
  })

  it('watches through a link if the watch is not recursive', async () => {
    await symlink('w', join(fixture.dir, 'link'))
    await using watcher = await pollDirectory(daemon, { path: join(fixture.dir, 'link'), includeEntry: true })
    await writeFile(join(dir, 'f'), '')
    expect(await watcher.take()).toEqual([`CREATE f ${fixture.dir}/link/f`])
  })

  it('returns an error if a limit of the host is reached', { timeout: 90_000 }, async ({ skip }) => {
    if (noUserNamespaces !== undefined) skip(noUserNamespaces)
    const limits = [
      ['max_inotify_instances', 0, 'error creating watcher: too many open files'],
      ['max_inotify_watches', 2, `error adding path ${dir} to watcher: no space left on device`],
    ] as const
    await mkdir(join(dir, 'a/b/c'), { recursive: true })
    for (const [limit, most, message] of limits) {
      // Changes the limits of the daemon's own user namespace; the limits of the host do not change.
      const launcher = ['/usr/bin/unshare', '-Ur', '/bin/sh', '-c', `echo ${most} > /proc/sys/user/${limit} && exec "$@"`, 'sh']
      await using limited = await startDaemonProcess(fixture.dir, { launcher })
      const create = (recursive: boolean) =>
        unary(limited.url, 'filesystem.Filesystem/CreateWatcher', { path: dir, recursive }, asUser('root').headers)
      expect(JSON.parse((await create(true)).text)).toEqual({ code: 'internal', message })
      // A failed watch leaves no partial watch.
      if (most > 0) expect(await create(false)).toMatchObject({ status: 200 })
    }
  })
})

describe('[filesystem.Filesystem/GetWatcherEvents]', () => {
  it('reports that a directory created later has reached a limit of the host', { timeout: 90_000 }, async ({ skip }) => {
    if (noUserNamespaces !== undefined) skip(noUserNamespaces)
    const script = 'echo 2 > /proc/sys/user/max_inotify_watches && exec "$@"'
    await using limited = await startDaemonProcess(fixture.dir, { launcher: ['/usr/bin/unshare', '-Ur', '/bin/sh', '-c', script, 'sh'] })
    const ask = async (method: string, message: object): Promise<unknown> =>
      JSON.parse((await unary(limited.url, `filesystem.Filesystem/${method}`, message, asUser('root').headers)).text)
    const watcher = await ask('CreateWatcher', { path: dir, recursive: true })
    await sh('mkdir a b')
    expect(await ask('GetWatcherEvents', watcher as object)).toEqual({
      code: 'internal',
      message: 'watcher error: no space left on device',
    })
    await ask('RemoveWatcher', watcher as object)
    expect(await ask('CreateWatcher', { path: join(dir, 'a'), recursive: true })).toHaveProperty('watcherId')
  })

  it('returns a change that was made just before the call, once (envd.md 18.49)', async () => {
    await using watcher = await pollDirectory(daemon, { path: dir })
    for (let round = 0; round < 100; round++) {
      await writeFile(join(dir, `f${round}`), '')
      expect(await watcher.take()).toEqual([`CREATE f${round}`])
    }
    expect(await watcher.take()).toEqual([])
  })

  it('finds watchers from any connection until they are removed (envd.md 18.50)', async () => {
    const watcher = await pollDirectory(daemon, { path: dir })
    expect(watcher.id).toMatch(/^w[a-z0-9]{20}$/)
    await writeFile(join(dir, 'f'), '')
    const other = await unary(daemon.url, 'filesystem.Filesystem/GetWatcherEvents', { watcherId: watcher.id }, asUser('daemon').headers)
    expect(JSON.parse(other.text)).toEqual({ events: [{ name: 'f', type: 'EVENT_TYPE_CREATE' }] })
    await watcher[Symbol.asyncDispose]()
    const missing = { code: 'NotFound', message: `watcher with id ${watcher.id} not found` }
    expect(await failureOf(watcher.take())).toEqual(missing)
    expect(await failureOf(Promise.resolve(watcher[Symbol.asyncDispose]())), '[filesystem.Filesystem/RemoveWatcher]').toEqual(missing)
  })

  it('reports nothing after the watched directory was removed or moved (envd.md 18.52)', async () => {
    await mkdir(join(dir, 'sub'))
    await using whole = await pollDirectory(daemon, { path: dir, recursive: true })
    await using single = await pollDirectory(daemon, { path: join(dir, 'sub') })
    await sh('mv w v; : > v/f; : > v/sub/g; mkdir w; : > w/f', fixture.dir)
    expect(await whole.take()).toEqual(['RENAME .'])
    expect(await single.take()).toEqual(['CREATE g'])
    await rm(join(fixture.dir, 'v'), { recursive: true })
    expect(await single.take()).toEqual(['REMOVE g', 'REMOVE .'])
    expect([await whole.take(), await single.take()]).toEqual([[], []])
  })

  it('buffers events for two watchers of one directory separately (envd.md 18.53)', async () => {
    await mkdir(join(dir, 'sub'))
    await using outer = await pollDirectory(daemon, { path: dir, recursive: true })
    const inner = await pollDirectory(daemon, { path: join(dir, 'sub') })
    await writeFile(join(dir, 'sub/f'), '')
    expect([await outer.take(), await inner.take()]).toEqual([['CREATE sub/f'], ['CREATE f']])
    await inner[Symbol.asyncDispose]()
    await writeFile(join(dir, 'sub/g'), '')
    await using again = await pollDirectory(daemon, { path: join(dir, 'sub') })
    await rm(join(dir, 'sub/g'))
    expect([await outer.take(), await again.take()]).toEqual([['CREATE sub/g', 'REMOVE sub/g'], ['REMOVE g']])
  })
})

describe('the events of uploads and other calls', () => {
  const upload = (path: string, body: string, headers = {}) =>
    exchange(daemon.url, {
      method: 'POST',
      path: `/files?path=${path}&username=root`,
      headers: { 'content-type': 'application/octet-stream', ...headers },
      body,
    })

  it('[filesystem.Filesystem/GetWatcherEvents] are those of the kernel, without close events (envd.md 18.46)', async () => {
    await using watcher = await pollDirectory(daemon, { path: dir })
    const steps: [work: () => Promise<unknown>, events: string[]][] = [
      [() => upload(`${dir}/new`, 'x'), ['CREATE new', 'CHMOD new', 'WRITE new']],
      [() => upload(`${dir}/empty`, ''), ['CREATE empty', 'CHMOD empty']],
      [() => upload(`${dir}/new`, 'y', { 'x-metadata-a': '1' }), ['CHMOD new', 'WRITE new', 'CHMOD new']],
      [() => daemon.filesystem.makeDir({ path: `${dir}/d` }, asUser('root')), ['CREATE d', 'CHMOD d']],
      [() => daemon.filesystem.move({ source: `${dir}/new`, destination: `${dir}/old` }), ['RENAME new', 'CREATE old']],
      [() => daemon.filesystem.remove({ path: `${dir}/old` }), ['REMOVE old']],
      [() => rmdir(join(dir, 'd')), ['REMOVE d']],
    ]
    for (const [work, events] of steps) {
      await work()
      expect(merge(await watcher.take())).toEqual(events)
    }
  })
})

/** Merges equal neighbours: whether the kernel merges them depends on the speed of its reader. */
function merge(events: readonly string[]): string[] {
  return events.filter((event, index) => event !== events[index - 1])
}
