import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { EventType } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_POLLED_ENTRIES } from '../src/watch/polling-allowance.ts'
import { openWatch } from '../src/watch/open-watch.ts'
import { Watchers } from '../src/watch/watchers.ts'
import { createScratchDirectory } from './support/scratch-directory.ts'
import { failureOf, startDaemon, type TestDaemon } from './support/test-daemon.ts'
import { pollDirectory, type PolledWatcher, streamDirectory } from './support/watch.ts'

const run = promisify(execFile)
const sh = (script: string, cwd: string) => run('/bin/sh', ['-c', script], { cwd })

/** Why no FUSE file system can be mounted; undefined if one can. The gate installs bindfs and accepts skips of tests that name an absent device. */
async function findObstacle(): Promise<string | undefined> {
  const device = await open('/dev/fuse', 'r+').catch(() => undefined)
  if (device === undefined) return 'absent here: /dev/fuse'
  await device.close()
  return run('bindfs', ['--version']).then(
    () => undefined,
    () => 'bindfs is not installed: npm test installs it on Debian and Ubuntu, as root',
  )
}

const obstacle = await findObstacle()

describe('on a network file system', () => {
  let daemon: TestDaemon
  let scratch: Awaited<ReturnType<typeof createScratchDirectory>>
  /** The directory that stands for changes by other machines: the kernel does not report its changes at the mount. */
  let behind: string
  let mount: string
  /** Serves `behind` at `mount`. */
  let server: ChildProcess | undefined

  beforeAll(async () => {
    process.umask(0o022)
    daemon = await startDaemon()
  })
  afterAll(() => daemon[Symbol.asyncDispose]())
  beforeEach(async (context) => {
    if (obstacle !== undefined) return context.skip(obstacle)
    scratch = await createScratchDirectory()
    ;[behind, mount] = [join(scratch.path, 'behind'), join(scratch.path, 'mount')]
    await sh('mkdir behind mount', scratch.path)
    const { dev } = await stat(mount)
    server = spawn('bindfs', ['-f', '-o', 'attr_timeout=0,entry_timeout=0', behind, mount], { stdio: 'inherit' })
    const isMounted = async () => (await stat(mount)).dev !== dev || undefined
    await pollUntil({ what: 'the mount', timeoutMs: 20_000, everyMs: 20 }, isMounted)
  })
  afterEach(async () => {
    if (server === undefined) return
    await run('umount', ['-l', mount])
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
    server = undefined
    await scratch[Symbol.asyncDispose]()
  })

  it('[filesystem.Filesystem/CreateWatcher] is refused unless the request allows network mounts (envd.md 18.51)', async () => {
    const refusal = { code: 'InvalidArgument', message: `cannot watch path on network filesystem: ${mount}` }
    expect(await failureOf(daemon.filesystem.createWatcher({ path: mount }))).toEqual(refusal)
    await sh('ln -s mount link', scratch.path)
    const path = `${scratch.path}/link`
    const link = { code: 'Internal', message: `error adding path ${path} to watcher: fsnotify: not a directory: "${path}"` }
    expect(await failureOf(daemon.filesystem.createWatcher({ path, recursive: true, allowNetworkMounts: true }))).toEqual(link)
    await using watcher = await pollDirectory(daemon, { path, allowNetworkMounts: true, includeEntry: true })
    await writeFile(join(behind, 'f'), 'x')
    expect(await takeUntil(watcher, `CREATE f ${path}/f`)).toHaveLength(1)
  })

  it('[filesystem.Filesystem/GetWatcherEvents] reports each change by other machines once', async () => {
    await sh('mkdir -p d/s; echo x > d/s/f; echo x > old; echo x > gone; echo x > rewritten; ln -s nowhere dangling', behind)
    await using single = await pollDirectory(daemon, { path: mount, allowNetworkMounts: true })
    await using all = await pollDirectory(daemon, { path: mount, recursive: true, allowNetworkMounts: true })
    await sh(
      'echo y >> rewritten; mv old new; rm gone; mkdir -p e/t; echo x > e/t/g; ln -s d l; echo y >> d/s/f; chmod 600 new; rm dangling',
      behind,
    )
    await utimes(join(behind, 'd/s/f'), 1, 1)
    const ofRoot = ['CREATE e', 'CREATE l', 'CREATE new', 'REMOVE dangling', 'REMOVE gone', 'REMOVE old', 'WRITE rewritten']
    expect((await takeMany(single, ofRoot.length)).toSorted()).toEqual(ofRoot)
    const below = ['CREATE e/t', 'CREATE e/t/g', 'WRITE d/s/f']
    expect((await takeMany(all, ofRoot.length + below.length)).toSorted()).toEqual([...ofRoot, ...below].toSorted())
    // Same size, and a modification time that is not newer: no WRITE.
    await utimes(join(behind, 'rewritten'), 1, 1)
    await sh('rm -r e', behind)
    expect(await takeMany(all, 4)).toEqual(expect.arrayContaining(['CHMOD rewritten', 'REMOVE e/t/g', 'REMOVE e/t', 'REMOVE e']))
    expect((await takeMany(single, 2)).toSorted()).toEqual(['CHMOD rewritten', 'REMOVE e'])
  })

  it('[filesystem.Filesystem/WatchDir] reports every change after its start, until the directory is removed (envd.md 18.49, 18.52)', async () => {
    const path = join(mount, 'a\\b c')
    await mkdir(join(behind, 'a\\b c'))
    for (let round = 0; round < 3; round++) {
      using watch = await streamDirectory(daemon, { path, recursive: true, allowNetworkMounts: true })
      await sh(`mkdir d${round}`, join(behind, 'a\\b c'))
      expect(await watch.next()).toBe(`CREATE d${round}`)
    }
    using watch = await streamDirectory(daemon, { path, allowNetworkMounts: true, headers: { 'keepalive-ping-interval': '3' } })
    await sh('mv a* ../gone', behind)
    expect(new Set([await watch.next(), await watch.next(), await watch.next(), await watch.next()])).toEqual(
      new Set(['REMOVE d0', 'REMOVE d1', 'REMOVE d2', 'REMOVE .']),
    )
    expect(await watch.next()).toBe('keepalive')
  })

  it('[filesystem.Filesystem/GetWatcherEvents] answers with the error that ended the watch', async () => {
    await sh('touch f', behind)
    using watch = await streamDirectory(daemon, { path: mount, allowNetworkMounts: true })
    await using watcher = await pollDirectory(daemon, { path: mount, allowNetworkMounts: true })
    server?.kill('SIGKILL')
    const failure = { code: 'Internal', message: 'watcher error: transport endpoint is not connected' }
    expect(await failureOf(watch.next())).toEqual(failure)
    expect(await failureOf(takeMany(watcher, 1))).toEqual(failure)
  })

  it('[filesystem.Filesystem/CreateWatcher] refuses more than 10,000 entries for all watchers together', async () => {
    // Another watcher uses all but 100 entries, because 10,000 entries through FUSE take half a minute.
    const { allowance } = daemon.context.watchers
    for (let entry = 100; entry < MAX_POLLED_ENTRIES; entry++) allowance.take()
    await sh('for d in $(seq 11); do mkdir $d; (cd $d; touch $(seq 9)); done', behind)
    const message = 'all watchers together watch at most 10000 entries of network filesystems: watch a smaller directory'
    const request = { path: mount, allowNetworkMounts: true }
    const refused = { code: 'ResourceExhausted', message }
    expect(await failureOf(daemon.filesystem.createWatcher({ ...request, recursive: true }))).toEqual(refused)
    await sh('rm -r 9 10', behind)
    const whole = { ...request, recursive: true }
    {
      // Entries that one watcher polls are not available to others until it is removed or its client disconnects.
      await using large = await pollDirectory(daemon, whole)
      expect(await large.take()).toEqual([])
      expect(await failureOf(daemon.filesystem.createWatcher(whole))).toEqual(refused)
    }
    ;(await streamDirectory(daemon, whole))[Symbol.dispose]()
    const again = await pollUntil({ what: 'room', timeoutMs: 20_000, everyMs: 50 }, () =>
      pollDirectory(daemon, whole).catch(() => undefined),
    )
    await again[Symbol.asyncDispose]()
    await using watcher = await pollDirectory(daemon, request)
    await sh('rm -r 11', behind)
    expect(await takeMany(watcher, 1)).toEqual(['REMOVE 11'])
    allowance.giveBack(MAX_POLLED_ENTRIES - 100)
  })
})

describe('polling without a network file system', () => {
  it('reports what changes below a directory', async () => {
    await using scratch = await createScratchDirectory()
    await sh('mkdir d; echo x > d/f', scratch.path)
    const watchers = new Watchers(new AbortController().signal)
    const told: string[] = []
    const watch = await openWatch(
      {
        directory: { path: scratch.path, isNetwork: true },
        recursive: true,
        deliver: ({ path, type }) => void told.push(`${EventType[type]} ${path}`),
        onFailure: (error) => told.push(error.message),
      },
      watchers,
    )
    await sh('echo y >> d/f; mkdir e', scratch.path)
    await pollUntil({ what: 'the changes', timeoutMs: 20_000, everyMs: 50 }, () => (told.length >= 2 ? true : undefined))
    expect(told.toSorted()).toEqual(['CREATE e', 'WRITE d/f'])
    watch.close()
  })
})

/** Polls a watcher until it has returned `count` events. */
function takeMany(watcher: PolledWatcher, count: number): Promise<string[]> {
  const events: string[] = []
  return pollUntil({ what: `${count} events`, timeoutMs: 20_000, everyMs: 50 }, async () => {
    events.push(...(await watcher.take()))
    return events.length >= count ? events : undefined
  })
}

async function takeUntil(watcher: PolledWatcher, last: string): Promise<string[]> {
  const events = await takeMany(watcher, 1)
  expect(events.at(-1)).toBe(last)
  return events
}
