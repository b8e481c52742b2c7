import { execFile } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdir, readFile, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { resultWithin } from '@sandyard/kit/async/within'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadCLibrary } from '../src/sys/c-library.ts'
import { isContentCached } from '../src/sys/cached-content.ts'
import { noHangingMount } from './support/absences.ts'
import { startDaemonProcess } from './support/daemon-process.ts'
import { useDaemon } from './support/daemon-fixture.ts'
import { mountHanging } from './support/hanging-mount.ts'
import { exchange } from './support/http-exchange.ts'
import { createScratchDirectory } from './support/scratch-directory.ts'
import { filePart, putFile } from './support/upload.ts'

const run = promisify(execFile)
const TMPFS = 0x01021994

let scratch: Awaited<ReturnType<typeof createScratchDirectory>>
beforeEach(async () => {
  scratch = await createScratchDirectory()
})
afterEach(() => scratch[Symbol.asyncDispose]())

describe('isContentCached', () => {
  function isCached(path: string, bytes: number): boolean {
    const fd = openSync(path, 'r')
    try {
      return isContentCached(fd, bytes)
    } finally {
      closeSync(fd)
    }
  }

  it('is true only for content in memory, of at most 64 KiB', async () => {
    await loadCLibrary()
    const path = join(scratch.path, 'f')
    await writeFile(path, Buffer.alloc(70_000))
    expect([1, 4096, 4097, 65_536].map((bytes) => isCached(path, bytes))).toEqual([true, true, true, true])
    expect([0, 65_537].map((bytes) => isCached(path, bytes))).toEqual([false, false])
    expect([scratch.path, '/dev/null', '/proc/self/maps'].map((other) => isCached(other, 1))).toEqual([false, false, false])
    await writeFile(path, 'short')
    expect([isCached(path, 5), isCached(path, 5000)]).toEqual([true, false])
  })

  it('is false for content that only the disk has', async (context) => {
    if ((await statfs(scratch.path)).type === TMPFS) return context.skip('absent here: a disk behind the directory of temporary files')
    await loadCLibrary()
    const path = join(scratch.path, 'f')
    await writeFile(path, Buffer.alloc(8192))
    await run('sync', [path])
    await run('dd', [`if=${path}`, 'iflag=nocache', 'count=0'])
    expect(isCached(path, 8192)).toBe(false)
    readFileSync(path)
    expect(isCached(path, 8192)).toBe(true)
  })
})

describe('small files', () => {
  const fixture = useDaemon()

  it('[daemon POST /files] replaces the whole content by a shorter, an equal and a longer one', async () => {
    const path = join(fixture.dir, 'f')
    for (const body of ['x'.repeat(1000), 'short', 'other', '', 'a'.repeat(5000), 'b'.repeat(70_000), 'c']) {
      expect((await putFile(fixture.daemon.url, path, { body })).status).toBe(200)
      expect(await readFile(path, 'utf8')).toBe(body)
      expect((await exchange(fixture.daemon.url, { path: `/files?path=${path}` })).text).toBe(body)
    }
  })

  it('[daemon POST /files] replaces the whole content by parts of a form that arrives at once', async () => {
    const paths = ['a', 'b'].map((name) => join(fixture.dir, name))
    for (const size of [1000, 10, 2000]) {
      const body = Buffer.from([...paths.map((path) => filePart(path, 'x'.repeat(size))), '--XX--\r\n'].join(''))
      const answer = await exchange(fixture.daemon.url, {
        method: 'POST',
        path: '/files',
        headers: { 'content-type': 'multipart/form-data; boundary=XX' },
        body,
      })
      expect(answer.status).toBe(200)
      for (const path of paths) expect((await readFile(path, 'utf8')).length).toBe(size)
    }
  })

  it.skipIf(noHangingMount)(
    '[daemon GET /files] of a file system that does not answer delays no other request',
    { timeout: 60_000 },
    async () => {
      const mount = join(scratch.path, 'mount')
      await mkdir(mount)
      await using daemon = await startDaemonProcess(scratch.path)
      const path = join(scratch.path, 'f')
      expect((await putFile(daemon.url, path, { body: 'x' })).status).toBe(200)
      const hanging = await mountHanging(mount)
      try {
        const waiting = [exchange(daemon.url, { path: `/files?path=${mount}/f` }), putFile(daemon.url, `${mount}/f`, { body: 'x' })]
        for (let turn = 0; turn < 20; turn += 1) {
          const others = [putFile(daemon.url, path, { body: 'other' }), exchange(daemon.url, { path: `/files?path=${path}` })]
          const answers = await resultWithin(10_000, Promise.all(others))
          expect(answers?.map(({ status }) => status)).toEqual([200, 200])
        }
        await hanging.release()
        for (const { status } of await Promise.all(waiting)) expect(status).toBeGreaterThanOrEqual(400)
      } finally {
        await hanging.release()
      }
    },
  )
})
