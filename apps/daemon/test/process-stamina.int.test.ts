import type { Socket } from 'node:net'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { Signal } from '@sandyard/daemon-protocol/process/process_pb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { begin, collect, run, sh } from './support/collect.ts'
import { type Figures, isBlockedWriting, measure } from './support/daemon-figures.ts'
import { type DaemonProcess, startDaemonProcess } from './support/daemon-process.ts'
import { connectTo } from './support/process-client.ts'
import { openCall } from './support/raw-stream.ts'
import { createScratchDirectory } from './support/scratch-directory.ts'

/** Late compilation and collection take about half of this; a leak in these tests takes more. */
const SPARE_MIB = 32

let daemon: DaemonProcess
let scratch: Awaited<ReturnType<typeof createScratchDirectory>>
let caller: ReturnType<typeof connectTo>

beforeAll(async () => {
  scratch = await createScratchDirectory()
  daemon = await startDaemonProcess(scratch.path)
  caller = connectTo(daemon.url)
  // Warms up the daemon: code that is compiled and loaded once stays in memory.
  for (let index = 0; index < 100; index += 1) await run(caller, ['true'])
})
afterAll(async () => {
  await daemon[Symbol.asyncDispose]()
  await scratch[Symbol.asyncDispose]()
})

const figures = () => measure(daemon.pid)
const kill = (pid: number) => caller.process.sendSignal({ process: byPid(pid), signal: Signal.SIGKILL })
const byPid = (pid: number) => ({ selector: { case: 'pid' as const, value: pid } })
const live = async () => (await caller.process.list({})).processes.map(({ pid }) => pid)

/** Waits until descriptors, children and memory are released, which happens shortly after the last answer. */
async function untilBackAt(before: Figures): Promise<void> {
  await pollUntil({ what: 'everything to be released', timeoutMs: 20_000, everyMs: 50 }, () => {
    const now = figures()
    const isBack = now.descriptors <= before.descriptors + 4 && now.children <= before.children && now.mib <= before.mib + SPARE_MIB
    return isBack ? true : undefined
  }).catch(() => expect(figures()).toEqual(before))
}

describe('[process.Process/Start] many processes', () => {
  it('500 concurrent processes each get their input and report their end', { timeout: 60_000 }, async () => {
    const before = figures()
    const started = await Promise.all(
      Array.from({ length: 500 }, () => begin(caller, sh('read x; echo "got $x"; exit 3'), { request: { stdin: true } })),
    )
    expect(new Set(await live())).toEqual(new Set(started.map(({ pid }) => pid)))
    const outcomes = started.map(({ rest }) => collect(rest))
    await Promise.all(
      started.map(({ pid }) =>
        caller.process.sendInput({ process: byPid(pid), input: { input: { case: 'stdin', value: Buffer.from(`${pid}\n`) } } }),
      ),
    )
    for (const [index, outcome] of (await Promise.all(outcomes)).entries()) {
      expect(outcome).toMatchObject({ stdout: `got ${started[index]?.pid}\n`, end: { exitCode: 3 } })
    }
    expect(await live()).toEqual([])
    await untilBackAt(before)
  })

  it('500 processes one after another leave nothing', { timeout: 60_000 }, async () => {
    const before = figures()
    for (let index = 0; index < 500; index += 1) {
      const request = { tag: `t${index % 7}`, ...(index % 5 === 0 ? { pty: { size: { cols: 80, rows: 24 } } } : {}) }
      expect((await run(caller, ['/bin/echo', 'x'], { request })).end?.exitCode).toBe(0)
    }
    await untilBackAt(before)
  })
})

describe('[process.Process/Connect] streams that nobody reads', () => {
  it.each([
    ['large writes', 'exec cat /dev/zero'],
    ['one byte at a time', 'while :; do printf x; done'],
  ])('stall only their process and take bounded memory: %s (envd.md 18.68)', { timeout: 60_000 }, async (_, script) => {
    const before = figures()
    const unread = await openCall(daemon.url, 'Start', [{ process: { cmd: '/bin/sh', args: ['-c', script], cwd: '/' }, stdin: false }])
    const [pid = 0] = await live()
    await pollUntil({ what: 'the process to stall', timeoutMs: 40_000, everyMs: 20 }, () => isBlockedWriting(pid) || undefined)
    // What was collected late is no growth.
    const bounded = { what: `less than ${SPARE_MIB} MiB more`, timeoutMs: 20_000, everyMs: 20 }
    await pollUntil(bounded, () => figures().mib - before.mib < SPARE_MIB || undefined)
    expect((await run(caller, ['/bin/echo', 'others'])).stdout).toBe('others\n')
    unread.destroy()
    await pollUntil({ what: 'the process to continue', timeoutMs: 20_000, everyMs: 5 }, () => !isBlockedWriting(pid) || undefined)
    await kill(pid)
    await untilBackAt(before)
  })
})

describe('[process.Process/Start] [process.Process/Connect] [process.Process/StreamInput] 1,000 idle streams', () => {
  it('release everything when their clients disconnect', { timeout: 60_000 }, async () => {
    const before = figures()
    const target = await begin(caller, ['sleep', '600'], { request: { stdin: true } })
    const process = { pid: target.pid }
    const starts = await open(200, 'Start', { process: { cmd: 'sleep', args: ['600'], cwd: '/' } })
    const others = [...(await open(400, 'Connect', { process })), ...(await open(400, 'StreamInput', { start: { process } }))]
    await pollUntil(
      { what: 'all connections', timeoutMs: 20_000, everyMs: 20 },
      () => figures().descriptors > before.descriptors + 1000 || undefined,
    )
    expect((await run(caller, ['/bin/echo', 'others'])).stdout).toBe('others\n')
    for (const socket of [...starts, ...others]) socket.destroy()
    const outcome = collect(target.rest)
    const pids = await live()
    expect(pids.length).toBe(201)
    await Promise.all(pids.map(kill))
    expect((await outcome).end?.status).toBe('signal: killed')
    await untilBackAt(before)
  })
})

function open(count: number, method: string, message: object): Promise<Socket[]> {
  return Promise.all(Array.from({ length: count }, () => openCall(daemon.url, method, [message])))
}
