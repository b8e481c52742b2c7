import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import type { CallOptions } from '@connectrpc/connect'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { create } from '@bufbuild/protobuf'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { ProcessSelectorSchema, Signal } from '@sandyard/daemon-protocol/process/process_pb'
import { begin, collect, run, sh } from './support/collect.ts'
import { failureOf, startDaemon, type TestDaemon } from './support/test-daemon.ts'

let daemon: TestDaemon

beforeAll(async () => {
  daemon = await startDaemon()
})
afterAll(() => daemon[Symbol.asyncDispose]())

/** Waits for a condition of the daemon. */
const until = (what: string, probe: () => boolean) => pollUntil({ what, timeoutMs: 10_000, everyMs: 5 }, () => (probe() ? true : undefined))
const isLive = (pid: number) => daemon.context.processes.list().some((live) => live.pid === pid)
const isRunning = (pid: number) => proc(pid, 'stat') !== undefined && !/\) Z /.test(proc(pid, 'stat') ?? '')
/** True while the process or a child of it waits for room in a pipe. */
const isBlocked = (pid: number): boolean => {
  const children = readdirSync('/proc').filter((id) => parentOf(id) === pid)
  return [pid, ...children].some((id) => proc(id, 'wchan')?.endsWith('pipe_write') === true)
}
const parentOf = (id: string) => (/^\d+$/.test(id) ? Number(proc(id, 'stat')?.split(') ')[1]?.split(' ')[1]) : undefined)
/** A file of the kernel about a process, which may end at any time. */
const proc = (pid: number | string, name: string): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return undefined
  }
}
const kill = (pid: number) => daemon.process.sendSignal({ process: { selector: { case: 'pid', value: pid } }, signal: Signal.SIGKILL })
const write = (pid: number, text: string) =>
  daemon.process.sendInput({
    process: { selector: { case: 'pid', value: pid } },
    input: { input: { case: 'stdin', value: Buffer.from(text) } },
  })

describe('[process.Process/Connect] subscribers', () => {
  it('get everything from the moment they subscribe, in order, and then the end (envd.md 18.67, 18.70)', async () => {
    const started = await begin(daemon, ['cat'])
    const first = started.rest[Symbol.asyncIterator]()
    await write(started.pid, 'one')
    expect((await first.next()).value?.event?.event?.value).toMatchObject({
      output: { case: 'stdout', value: new TextEncoder().encode('one') },
    })
    const second = daemon.process.connect({ process: started.selector })[Symbol.asyncIterator]()
    expect((await second.next()).value?.event?.event).toMatchObject({ case: 'start', value: { pid: started.pid } })
    await write(started.pid, 'two')
    await daemon.process.closeStdin({ process: started.selector })
    for (const events of [first, second]) {
      const rest = await collect({ [Symbol.asyncIterator]: () => events })
      expect(rest).toMatchObject({ stdout: 'two', kinds: ['stdout', 'end'], end: { exitCode: 0 } })
    }
    expect(isLive(started.pid)).toBe(false)
  })

  it('that leave change nothing for the process, and without any its output is dropped (envd.md 18.67)', async () => {
    const abandon = new AbortController()
    const started = await begin(daemon, sh('head -c 1000000 /dev/zero; read x; echo "$x"'), { signal: abandon.signal })
    abandon.abort()
    // It can come to its read only if somebody takes the first megabyte.
    await write(started.pid, '')
    const late = daemon.process.connect({ process: started.selector })[Symbol.asyncIterator]()
    await late.next()
    await write(started.pid, 'here\n')
    expect(await collect({ [Symbol.asyncIterator]: () => late })).toMatchObject({ end: { exitCode: 0 } })
  })

  it('that stop reading stall the process, and free it when they go (envd.md 18.68)', async () => {
    const stalled = await openUnread({ process: { cmd: '/bin/sh', args: ['-c', 'yes'] }, stdin: false, tag: 'stalled' })
    const { pid } = daemon.context.processes.get(create(ProcessSelectorSchema, { selector: { case: 'tag', value: 'stalled' } }))
    await until('a process that waits', () => isBlocked(pid))
    stalled.destroy()
    await until('a process that runs again', () => !isBlocked(pid))
    await kill(pid)
    await until('the end', () => !isLive(pid))
  })

  it('one that stops reading holds up the others only as long as it is there', async () => {
    const script = 'for i in 1 2 3 4 5 6 7 8; do head -c 1000000 /dev/zero; done'
    const started = await begin(daemon, sh(`read x; ${script}`))
    const reader = collect(started.rest)
    const stalled = await openUnread({ process: { pid: started.pid } }, 'Connect')
    await write(started.pid, 'go\n')
    await until('a process that waits', () => isBlocked(started.pid) || !isLive(started.pid))
    stalled.destroy()
    expect(await reader).toMatchObject({ end: { exitCode: 0 } })
    expect((await reader).stdout.length).toBe(8_000_000)
  })
})

describe('[process.Process/SendSignal] [process.Process/Start] signals and time', () => {
  it('a signal ends the stream at once, though a grandchild holds the output, and goes to one process alone (envd.md 18.63, 18.64)', async () => {
    const started = await begin(daemon, sh('sleep 60 & echo $!; wait'))
    const events = started.rest[Symbol.asyncIterator]()
    const first = (await events.next()).value?.event?.event?.value
    const grandchild = Number(Buffer.from(first?.output?.value ?? []).toString())
    await kill(started.pid)
    const { end } = await collect({ [Symbol.asyncIterator]: () => events })
    expect(end).toMatchObject({ exitCode: -1, status: 'signal: killed' })
    expect(isRunning(grandchild)).toBe(true)
    process.kill(grandchild, 'SIGKILL')
  })

  it('also after the process itself has exited', async () => {
    const started = await begin(daemon, sh('sleep 60 & echo $!'))
    const outcome = collect(started.rest)
    await until('the exit', () => !isRunning(started.pid))
    await daemon.process.sendSignal({ process: started.selector, signal: Signal.SIGTERM })
    const { end, stdout } = await outcome
    expect(end).toMatchObject({ exitCode: 0 })
    process.kill(Number(stdout), 'SIGKILL')
  })

  it('a process that handles SIGTERM goes on', async () => {
    const started = await begin(daemon, sh('trap "echo caught; exit 5" TERM; echo ready; while :; do sleep 0.02; done'))
    const events = started.rest[Symbol.asyncIterator]()
    await events.next()
    await daemon.process.sendSignal({ process: started.selector, signal: Signal.SIGTERM })
    expect(await collect({ [Symbol.asyncIterator]: () => events })).toMatchObject({ end: { exitCode: 5 } })
  })

  it('the time of a Start ends its stream and kills the process; others hear the end, late ones too (envd.md 18.61, 18.71)', async () => {
    const started = await begin(daemon, ['sleep', '60'], { timeoutMs: 300 })
    const other = collect(daemon.process.connect({ process: started.selector }))
    expect((await failureOf(collect(started.rest))).code).toBe('DeadlineExceeded')
    const killed = { end: { status: 'signal: killed', error: 'signal: killed', exitCode: -1, exited: false } }
    expect(await other).toMatchObject(killed)
    const late = await collect(daemon.process.connect({ process: started.selector }))
    expect(late).toMatchObject({ ...killed, pid: started.pid, kinds: ['start', 'end'] })
  })

  it('the time of a Start goes on without its client (envd.md 18.61)', async () => {
    const abandon = new AbortController()
    const started = await begin(daemon, ['sleep', '60'], { timeoutMs: 300, signal: abandon.signal })
    abandon.abort()
    await until('the end', () => !isLive(started.pid))
  })

  it('the time of a Connect ends the stream alone (envd.md 18.61)', async () => {
    const started = await begin(daemon, ['sleep', '60'])
    const failure = await failureOf(collect(daemon.process.connect({ process: started.selector }, { timeoutMs: 100 })))
    expect(failure.code).toBe('DeadlineExceeded')
    expect(isLive(started.pid)).toBe(true)
    await kill(started.pid)
  })

  it('no time at all starts the process and ends the stream before its first event', async () => {
    const failed = await failureOf(run(daemon, ['sleep', '60'], { headers: { 'connect-timeout-ms': '0' } }))
    expect(failed).toEqual({ code: 'DeadlineExceeded', message: 'context deadline exceeded' })
    const [live] = daemon.context.processes.list().filter(({ config }) => config.args[0] === '60')
    await kill(live?.pid ?? 0)
  })

  it('keepalives fill the silence and count from the last output (envd.md 18.72)', async () => {
    const silence = await run(daemon, sh('sleep 1.4; echo x'), { headers: { 'keepalive-ping-interval': '1' } })
    expect(silence.kinds).toEqual(['start', 'keepalive', 'stdout', 'end'])
    for (const interval of ['0', '-1', 'x', '1.5', '99999999999']) {
      const { kinds } = await run(daemon, ['sleep', '0.05'], { headers: { 'keepalive-ping-interval': interval } })
      expect(kinds, interval).toEqual(['start', 'end'])
    }
  })

  it('a shutdown ends every stream with a reason', async () => {
    await using other = await startDaemon()
    const started = await begin(other, ['sleep', '60'])
    const second = other.processByLibrary.connect({ process: started.selector })[Symbol.asyncIterator]()
    await second.next()
    const failures = [started.rest, { [Symbol.asyncIterator]: () => second }].map((events) => failureOf(collect(events)))
    other.shutDown()
    const ended = { code: 'Unavailable', message: 'the sandbox is shutting down' }
    expect(await Promise.all(failures)).toEqual([ended, ended])
  })
})

describe('a stream that the library serves', () => {
  const start = (script: string, options: CallOptions = {}) =>
    daemon.processByLibrary.start({ process: { cmd: '/bin/sh', args: ['-c', script], cwd: '/' }, stdin: false }, options)

  it('has the same events, in compressed envelopes', async () => {
    const outcome = await collect(
      start('head -c 200000 /dev/zero | tr "\\0" a; echo err >&2; sleep 1.2; exit 3', { headers: { 'keepalive-ping-interval': '1' } }),
    )
    expect([outcome.stdout.length, outcome.stderr, outcome.end?.exitCode]).toEqual([200_000, 'err\n', 3])
    expect(new Set(outcome.kinds)).toEqual(new Set(['start', 'stdout', 'stderr', 'keepalive', 'end']))
  })

  it('ends with its time, and lives with its process no longer than that (envd.md 18.62)', async () => {
    expect((await failureOf(collect(start('sleep 60', { timeoutMs: 200 })))).code).toBe('DeadlineExceeded')
    await until('the kill', () => !daemon.context.processes.list().some(({ config }) => config.args.includes('sleep 60')))
    const never = start('sleep 61', { headers: { 'connect-timeout-ms': '0' } })
    expect(await failureOf(collect(never))).toEqual({ code: 'DeadlineExceeded', message: 'context deadline exceeded' })
  })

  it('leaves its process alone when its client goes', async () => {
    const abandon = new AbortController()
    const events = start('echo; head -c 5000000 /dev/zero; exec sleep 62', { signal: abandon.signal })[Symbol.asyncIterator]()
    await events.next()
    abandon.abort()
    const live = () => daemon.context.processes.list().find(({ config }) => config.args[1]?.endsWith('sleep 62'))
    await until('a process that is not stalled', () => proc(live()?.pid ?? 0, 'cmdline')?.startsWith('sleep') === true)
    await kill(live()?.pid ?? 0)
  })
})

/** A stream of the daemon from which nobody reads. */
async function openUnread(message: object, method = 'Start') {
  const body = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(5)
  head.writeUInt32BE(body.length, 1)
  const stream = request(`${daemon.url}/process.Process/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/connect+json', 'connect-protocol-version': '1' },
  })
  stream.on('error', () => undefined)
  stream.end(Buffer.concat([head, body]))
  await new Promise((resolve) => stream.once('response', (response) => resolve(response.pause())))
  return stream
}
