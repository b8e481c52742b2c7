import { readdir, readlink } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import type { Answer } from './http-exchange.ts'
import { createScratchDirectory } from './scratch-directory.ts'
import { startDaemon, type TestDaemon } from './test-daemon.ts'

/** Shared by the tests of a file: one daemon, with the umask of the real one, and a new directory for each test. Available inside tests only. */
export interface DaemonFixture {
  readonly daemon: TestDaemon
  readonly dir: string
}

/** Registers the hooks of the fixture; call it at the top of a file. */
export function useDaemon(): DaemonFixture {
  const fixture = {} as { daemon: TestDaemon; dir: string }
  let scratch: Awaited<ReturnType<typeof createScratchDirectory>>
  beforeAll(async () => {
    process.umask(0o022)
    fixture.daemon = await startDaemon()
  })
  afterAll(() => fixture.daemon[Symbol.asyncDispose]())
  beforeEach(async () => {
    scratch = await createScratchDirectory()
    fixture.dir = scratch.path
  })
  afterEach(() => scratch[Symbol.asyncDispose]())
  return fixture
}

/** Status and message of a refusal in the JSON form of the REST routes (envd.md 2.4). */
export function refusal(answer: Answer): [number, string] {
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(answer.text.endsWith('\n')).toBe(true)
  const error = JSON.parse(answer.text) as { code: number; message: string }
  expect(error.code).toBe(answer.status)
  return [answer.status, error.message]
}

/** The number of open files below a directory in this process, which includes the daemon. */
async function countOpenFiles(directory: string): Promise<number> {
  const fds = await readdir('/proc/self/fd')
  const paths = await Promise.all(fds.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')))
  return paths.filter((path) => path.startsWith(`${directory}/`)).length
}

/** Waits until the daemon has `count` open files below a directory. */
export async function waitForOpenFiles(directory: string, count: number): Promise<void> {
  await pollUntil({ what: `${count} open files`, timeoutMs: 20_000, everyMs: 20 }, async () =>
    (await countOpenFiles(directory)) === count ? true : undefined,
  )
}
