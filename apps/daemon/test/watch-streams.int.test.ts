import { utimesSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { beforeEach, describe, expect, it } from 'vitest'
import { envelope, stream } from './support/raw-rpc.ts'
import { useDaemon } from './support/daemon-fixture.ts'
import { failureOf, startDaemon, type TestDaemon } from './support/test-daemon.ts'
import { countHandles, pollDirectory, streamDirectory } from './support/watch.ts'

const fixture = useDaemon()
let daemon: TestDaemon
let dir: string

beforeEach(() => {
  ;({ daemon, dir } = fixture)
})

const OVERFLOW = { code: 'Internal', message: 'watcher error: fsnotify: queue or buffer overflow' }
/** Fewer than the kernel's queue holds (`fs.inotify.max_queued_events`). */
const BATCH = 16_000

/** Causes that many events synchronously, so the daemon in this process reads none of them meanwhile. */
function touchInTurn(times: number): void {
  for (let index = 0; index < times; index += 1) utimesSync(join(dir, `f${index % 2}`), 1, 1)
}

describe('[filesystem.Filesystem/WatchDir]', () => {
  it('sends its start when the watch is active, and then every change (envd.md 18.49)', async () => {
    for (let round = 0; round < 20; round++) {
      using watch = await streamDirectory(daemon, { path: dir, recursive: true, includeEntry: true })
      await mkdir(join(dir, `d${round}`))
      expect(await watch.next()).toBe(`CREATE d${round} ${dir}/d${round}`)
      await writeFile(join(dir, `d${round}/f`), '')
      expect(await watch.next()).toBe(`CREATE d${round}/f ${dir}/d${round}/f`)
    }
  })

  it('sends the messages in the documented form', async () => {
    const request = envelope({ path: dir, includeEntry: true })
    const answer = stream(daemon.url, 'filesystem.Filesystem/WatchDir', request, { 'connect-timeout-ms': '1000' })
    await pollUntil({ what: 'the watch', timeoutMs: 20_000, everyMs: 5 }, () => (countHandles().watches > 0 ? true : undefined))
    utimesSync(dir, 1, 1)
    expect((await answer).envelopes).toMatchObject([
      { flags: 0, message: { start: {} } },
      {
        flags: 0,
        message: { filesystem: { name: '.', type: 'EVENT_TYPE_CHMOD', entry: { path: dir, modifiedTime: '1970-01-01T00:00:01Z' } } },
      },
      { flags: 2, message: { error: { code: 'deadline_exceeded', message: 'context deadline exceeded' } } },
    ])
  })

  it('sends keepalives at the requested interval', async () => {
    using watch = await streamDirectory(daemon, { path: dir, headers: { 'keepalive-ping-interval': '1' } })
    expect([await watch.next(), await watch.next()]).toEqual(['keepalive', 'keepalive'])
    for (const interval of ['0', '-1', 'x']) {
      using other = await streamDirectory(daemon, { path: dir, headers: { 'keepalive-ping-interval': interval } })
      utimesSync(dir, 1, 1)
      expect(await other.next(), interval).toBe('CHMOD .')
    }
  })

  it('ends at the deadline of the call and at shutdown', async () => {
    using limited = await streamDirectory(daemon, { path: dir, timeoutMs: 300 })
    expect(await failureOf(limited.next())).toMatchObject({ code: 'DeadlineExceeded' })
    await using other = await startDaemon()
    using watch = await streamDirectory(other, { path: dir })
    const watcher = await pollDirectory(other, { path: dir })
    other.shutDown()
    expect(await failureOf(watch.next())).toMatchObject({ code: 'Unavailable' })
    expect(await failureOf(watcher.take())).toMatchObject({ code: 'NotFound' })
  })

  it('stays open after the watched directory was removed (envd.md 18.52)', async () => {
    const path = join(dir, 'gone')
    await mkdir(path)
    using watch = await streamDirectory(daemon, { path, headers: { 'keepalive-ping-interval': '1' } })
    await rm(dir, { recursive: true })
    expect([await watch.next(), await watch.next()]).toEqual(['REMOVE .', 'keepalive'])
  })
})

describe('events that arrive faster than they are read', () => {
  beforeEach(() => Promise.all([0, 1].map((index) => writeFile(join(dir, `f${index}`), ''))))

  it('[filesystem.Filesystem/GetWatcherEvents] end every watcher when the kernel’s queue overflows', async () => {
    using watch = await streamDirectory(daemon, { path: dir })
    await using watcher = await pollDirectory(daemon, { path: dir })
    touchInTurn(40_000)
    expect(await failureOf(watcher.take())).toEqual(OVERFLOW)
    expect(await failureOf(watcher.take()), 'and again').toEqual(OVERFLOW)
    const drained = async (): Promise<never> => {
      while ((await watch.next()) !== undefined);
      throw new Error('the stream ended without an error')
    }
    expect(await failureOf(drained())).toEqual(OVERFLOW)
    await using next = await pollDirectory(daemon, { path: dir })
    touchInTurn(2)
    expect(await next.take()).toEqual(['CHMOD f0', 'CHMOD f1'])
  })

  it('[filesystem.Filesystem/GetWatcherEvents] end only the watcher that is not polled', async () => {
    await using reader = await pollDirectory(daemon, { path: dir })
    await using sleeper = await pollDirectory(daemon, { path: dir })
    for (let batch = 0; batch < 5; batch++) {
      touchInTurn(BATCH)
      expect(await reader.take()).toHaveLength(BATCH)
    }
    expect(await failureOf(sleeper.take())).toEqual(OVERFLOW)
  })
})

describe('the buffers of watchers', () => {
  it('[filesystem.Filesystem/RemoveWatcher] are released, also when the client of a stream disconnects (envd.md 18.53)', async () => {
    await mkdir(join(dir, 'a/b/c'), { recursive: true })
    const first = await pollDirectory(daemon, { path: dir })
    await first[Symbol.asyncDispose]()
    await until(() => countHandles().watches === 0)
    const before = countHandles()
    for (let round = 0; round < 10; round += 1) {
      const polled = await Promise.all(Array.from({ length: 25 }, () => pollDirectory(daemon, { path: dir, recursive: true })))
      const streamed = await Promise.all(Array.from({ length: 25 }, () => streamDirectory(daemon, { path: dir, recursive: true })))
      // One kernel watch for each directory, whatever the number of watchers, in one instance.
      expect(countHandles().watches).toBe(4)
      for (const watch of streamed) watch[Symbol.dispose]()
      await Promise.all(polled.map((watcher) => watcher[Symbol.asyncDispose]()))
    }
    await until(() => countHandles().watches === 0)
    // The client may keep idle connections for a while.
    await until(() => countHandles().files <= before.files + 60)
  })

  const until = (probe: () => boolean) =>
    pollUntil({ what: 'all to be given back', timeoutMs: 20_000, everyMs: 10 }, () => (probe() ? true : undefined))
})
