import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { loadCLibrary } from '../src/sys/c-library.ts'
import { Arena } from '../src/sys/arena.ts'
import { findFunction, NativeThread, type NativeValue, threadBytes } from '../src/sys/native-thread.ts'
import { getOpenFileLimit, setOpenFileLimit } from '../src/sys/own-process.ts'
import { Spawn } from '../src/sys/spawn.ts'
import { resultWithin } from '@sandyard/kit/async/within'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { noHangingMount } from './support/absences.ts'
import { begin, collect, run, sh } from './support/collect.ts'
import { startDaemonProcess } from './support/daemon-process.ts'
import { compareEnvironments } from './support/environment-check.ts'
import { mountHanging } from './support/hanging-mount.ts'
import { connectTo } from './support/process-client.ts'
import { createScratchDirectory } from './support/scratch-directory.ts'
import { failureOf, startDaemon } from './support/test-daemon.ts'

let scratch: Awaited<ReturnType<typeof createScratchDirectory>>

beforeAll(loadCLibrary)
beforeEach(async () => {
  scratch = await createScratchDirectory()
})
afterEach(() => scratch[Symbol.asyncDispose]())

async function figuresOf(url: string): Promise<Record<string, unknown>> {
  return (await (await fetch(`${url}/metrics`)).json()) as Record<string, unknown>
}

/** How many failed starts may wait for a file system. */
const MOST_STUCK = 64

/** How many processes the threads of a process have started. */
function childrenOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').match(/\d+/g) ?? []).length
}

describe('[process.Process/Start] memory of a start', () => {
  it(
    'is not collected too early: 400 environments of 5 KB arrive byte by byte, with a collection every 20 allocations',
    { timeout: 240_000 },
    async () => {
      await using daemon = await startDaemonProcess(scratch.path, { nodeFlags: ['--gc-interval=20'] })
      expect(await compareEnvironments(connectTo(daemon.url), 400)).toEqual([])
    },
  )

  it('lies in an arena: a thread refuses every other address', () => {
    const [arena, other] = [new Arena(threadBytes(2) + 4096), new Arena(64)]
    const thread = new NativeThread(arena, 2)
    const strangers = other.take(8)
    expect(() => thread.start([{ function: findFunction('sem_post'), values: [strangers.address] }])).toThrow('does not own')
    // @ts-expect-error: a bare number is no argument
    const bare: NativeValue = 4096
    expect(() => thread.start([{ function: findFunction('sem_post'), values: [bare] }])).toThrow('does not own')
    for (const each of [arena, other]) each.release()
  })

  it('an exception on the JavaScript thread leaves no waiting native thread', async () => {
    const threads = () => readdirSync('/proc/self/task').length
    const call = { file: '/bin/true', argv: ['true'], environment: [], cwd: '/', stdio: [0, 1, 2] } as const
    const groups = Object.assign([0], { [Symbol.iterator]: () => fail() })
    const before = threads()
    using start = new Spawn({ ...call, identity: { uid: 0, gid: 0, groups } })
    expect(() => start.run(5000)).toThrow('in the check of the identity')
    await pollUntil({ what: 'the thread to end', timeoutMs: 20_000, everyMs: 5 }, () => threads() <= before || undefined)
  })

  it('a thread that does not get the identity starts nothing', () => {
    const call = { file: '/bin/true', argv: ['true'], environment: [], cwd: '/', stdio: [0, 1, 2] } as const
    // With -1 the calls do not change the identity.
    using start = new Spawn({ ...call, identity: { uid: 0xffff_ffff, gid: 0xffff_ffff, groups: [] } })
    expect(() => start.run(5000)).toThrow('EPERM')
  })
})

function fail(): never {
  throw new Error('in the check of the identity')
}

describe('[process.Process/Start] a command that cannot be executed', () => {
  it('falls back to the shell for known reasons only, and is counted', async () => {
    await using daemon = await startDaemonProcess(scratch.path)
    const caller = connectTo(daemon.url)
    const [script, plain] = [join(scratch.path, 'script'), join(scratch.path, 'plain')]
    await writeFile(script, 'echo "run by $0"\n')
    await chmod(script, 0o755)
    await writeFile(plain, '')
    expect((await run(caller, ['/bin/echo', 'itself'])).stdout).toBe('itself\n')
    expect((await run(caller, [script])).stdout).toBe(`run by ${script}\n`)
    expect((await run(caller, [plain])).end?.exitCode).toBe(126)
    expect((await run(caller, ['/nope'])).end?.exitCode).toBe(127)
    expect((await run(caller, ['/nope/x', 'two'])).end?.exitCode).toBe(127)
    const tooLong = failureOf(run(caller, ['/bin/echo', 'x'.repeat(200_000)]))
    expect((await tooLong).message).toContain('fork/exec /bin/sh: argument list too long')
    expect(await figuresOf(daemon.url)).toMatchObject({
      process_starts: 5,
      process_starts_by_shell: { ENOEXEC: 1, EACCES: 1, ENOENT: 2 },
      process_start_failures: { E2BIG: 1 },
    })
  })
})

describe('[process.Process/Start] when the daemon has more open files than its children may have', () => {
  it('starts processes with and without a terminal, and applies the limit to them', async () => {
    // The daemon raises its soft limit to the hard one; its children get the soft limit of the daemon's parent.
    const launcher = ['prlimit', '--nofile=64:4096', 'unshare', '--fork', '--kill-child', '--']
    await using daemon = await startDaemonProcess(scratch.path, { launcher })
    const { hostname, port } = new URL(daemon.url)
    const sockets: Socket[] = []
    for (let index = 0; index < 100; index += 1) {
      const socket = connect(Number(port), hostname)
      await once(socket, 'connect')
      sockets.push(socket)
    }
    try {
      const caller = connectTo(daemon.url)
      expect((await run(caller, sh('ulimit -Sn; ulimit -Hn'))).stdout).toBe('64\n4096\n')
      expect((await run(caller, sh('ulimit -Sn'), { request: { pty: {} } })).pty).toBe('64\r\n')
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  })
})

describe('[process.Process/Start] a process that was created after the limits were reset', () => {
  it('gets them without CAP_SYS_RESOURCE, which containers do not have', async () => {
    const launcher = ['--nofile=64:4096', 'setpriv', '--bounding-set=-sys_resource', 'unshare', '--fork', '--kill-child', '--']
    const program = fileURLToPath(import.meta.resolve('./support/impose-limits.ts'))
    const { stdout } = await promisify(execFile)('prlimit', [...launcher, process.execPath, program])
    expect(stdout).toMatch(/^Max open files +64 +4096 /)
  })
})

describe('[process.Process/Start] without free descriptors', () => {
  it('fails before the command runs, and is counted', async () => {
    await using daemon = await startDaemon()
    expect((await run(daemon, ['/bin/echo', 'before'])).stdout).toBe('before\n')
    const limit = getOpenFileLimit()
    // Open files, such as the connection of the client, stay open.
    setOpenFileLimit({ ...limit, soft: 3n })
    const failure = await failureOf(run(daemon, ['/bin/echo', 'without'])).finally(() => setOpenFileLimit(limit))
    expect(failure.message).toContain('too many open files')
    expect((await run(daemon, ['/bin/echo', 'after'])).stdout).toBe('after\n')
    expect(daemon.context.starts.toJson()).toMatchObject({ process_starts: 2, process_start_failures: { EMFILE: 1 } })
  })
})

describe('[process.Process/Start] on a hanging mount', () => {
  beforeEach(({ skip }) => skip(noHangingMount !== undefined, noHangingMount))

  it('fails after the deadline, delays no other start, and leaves nothing when the mount answers', { timeout: 90_000 }, async () => {
    const mount = join(scratch.path, 'mount')
    await mkdir(mount)
    await using daemon = await startDaemonProcess(scratch.path)
    const caller = connectTo(daemon.url)
    const threads = () => readdirSync(`/proc/${daemon.pid}/task`).length
    expect((await run(caller, ['/bin/echo', 'before'])).stdout).toBe('before\n')
    const before = threads()
    const hanging = await mountHanging(mount)
    try {
      const inMount = () => failureOf(run(caller, ['/bin/true'], { config: { cwd: mount } }))
      const refused = [
        failureOf(run(caller, [join(mount, 'program')])),
        failureOf(run(caller, ['/bin/true'], { config: { cwd: mount }, request: { pty: {} } })),
        ...Array.from({ length: MOST_STUCK - 2 }, inMount),
      ]
      expect((await run(caller, ['/bin/echo', 'others'])).stdout).toBe('others\n')
      expect(await compareEnvironments(caller, 20)).toEqual([])
      for (const { code, message } of await Promise.all(refused)) {
        expect([code, message]).toEqual(['InvalidArgument', expect.stringContaining('fork/exec /bin/sh: connection timed out')])
      }
      const counts = { process_starts_stuck: MOST_STUCK, process_start_failures: { ETIMEDOUT: MOST_STUCK } }
      expect(await figuresOf(daemon.url)).toMatchObject(counts)
      // More starts are refused. They do not occupy the thread pool either.
      const more = await resultWithin(5000, Promise.all(Array.from({ length: 8 }, inMount)))
      expect(more?.map(({ message }) => message)).toEqual(
        Array(8).fill(expect.stringContaining('fork/exec /bin/sh: resource temporarily unavailable')),
      )
    } finally {
      await hanging.release()
    }
    await pollUntil({ what: 'the threads to end', timeoutMs: 20_000, everyMs: 50 }, () => threads() <= before || undefined)
    await pollUntil({ what: 'the count', timeoutMs: 20_000, everyMs: 50 }, async () =>
      (await figuresOf(daemon.url))['process_starts_stuck'] === 0 ? true : undefined,
    )
    expect((await caller.process.list({})).processes).toEqual([])
  })

  it('keeps no pipe of another process open while it waits', { timeout: 60_000 }, async () => {
    const mount = join(scratch.path, 'mount')
    await mkdir(mount)
    await using daemon = await startDaemonProcess(scratch.path)
    const caller = connectTo(daemon.url)
    const reader = await begin(caller, ['/bin/cat'], { request: { stdin: true } })
    const hanging = await mountHanging(mount)
    try {
      const refused = failureOf(run(caller, ['/bin/true'], { config: { cwd: mount } }))
      await pollUntil({ what: 'a process that waits for the mount', timeoutMs: 20_000, everyMs: 5 }, () =>
        childrenOf(daemon.pid) > 1 ? true : undefined,
      )
      await caller.process.closeStdin({ process: reader.selector })
      expect((await resultWithin(5000, collect(reader.rest)))?.end?.exitCode).toBe(0)
      expect(childrenOf(daemon.pid)).toBe(1)
      await hanging.release()
      await refused
    } finally {
      await hanging.release()
    }
  })
})
