import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import type { CallOptions } from '@connectrpc/connect'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { create } from '@bufbuild/protobuf'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { ProcessSelectorSchema, Signal } from '@sandyard/daemon-protocol/process/process_pb'
import { waitForChild } from '../src/sys/own-process.ts'
import { begin, collect, run, sh } from './support/collect.ts'
import { failureOf, startDaemon, type TestDaemon } from './support/test-daemon.ts'

let daemon: TestDaemon

beforeAll(async () => {
  daemon = await startDaemon()
})
afterAll(() => daemon[Symbol.asyncDispose]())

/** Waits for a condition of the daemon. */
const until = (what: string, probe: () => boolean) => pollUntil({ what, timeoutMs: 20_000, everyMs: 5 }, () => (probe() ? true : undefined))
const isLive = (pid: number) => daemon.context.processes.list().some((live) => live.pid === pid)
const isRunning = (pid: number) => proc(pid, 'stat') !== undefined && !/\) Z /.test(proc(pid, 'stat') ?? '')
/** True while the process or one of its children waits for space in a pipe. */
const isBlocked = (pid: number): boolean => withChildren(pid).some((id) => proc(id, 'wchan')?.endsWith('pipe_write') === true)
/** Bytes that the process and its children have written. */
const writtenBy = (pid: number): number =>
  withChildren(pid).reduce((sum, id) => sum + Number(/^wchar: (\d+)/m.exec(proc(id, 'io') ?? '')?.[1] ?? 0), 0)
const withChildren = (pid: number) => [String(pid), ...readdirSync('/proc').filter((id) => parentOf(id) === pid)]
const parentOf = (id: string) => (/^\d+$/.test(id) ? Number(proc(id, 'stat')?.split(') ')[1]?.split(' ')[1]) : undefined)
/** A file of `/proc`; undefined if the process has ended. */
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
  it('get all output after the subscription, in order, and then the end (envd.md 18.67, 18.70)', async () => {
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

  it('that disconnect do not affect the process; without subscribers its output is dropped (envd.md 18.67)', async () => {
    const abandon = new AbortController()
    const started = await begin(daemon, sh('head -c 1000000 /dev/zero; read x; echo "$x"'), { signal: abandon.signal })
    abandon.abort()
    // The process reads its input only after the daemon has read the first megabyte of its output.
    await write(started.pid, '')
    const late = daemon.process.connect({ process: started.selector })[Symbol.asyncIterator]()
    await late.next()
    await write(started.pid, 'here\n')
    expect(await collect({ [Symbol.asyncIterator]: () => late })).toMatchObject({ end: { exitCode: 0 } })
  })

  it('that stop reading stall the process until they disconnect (envd.md 18.68)', async () => {
    const stalled = await openUnread({ process: { cmd: '/bin/sh', args: ['-c', 'yes'] }, stdin: false, tag: 'stalled' })
    const { pid } = daemon.context.processes.get(create(ProcessSelectorSchema, { selector: { case: 'tag', value: 'stalled' } }))
    await until('a process that waits', () => isBlocked(pid))
    const written = writtenBy(pid)
    stalled.destroy()
    // More than a pipe has room for. The daemon reads nothing while this process looks, so a look alone mostly finds the pipe full.
    await until('a process that runs again', () => writtenBy(pid) > written + 1_000_000)
    await kill(pid)
    await until('the end', () => !isLive(pid))
  })

  it('that stop reading delay the others until they disconnect', async () => {
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

describe('[process.Process/SendSignal] [process.Process/Start] signals and deadlines', () => {
  it('a signal ends the stream at once, although a grandchild holds the output, and reaches one process only (envd.md 18.63, 18.64)', async () => {
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

  it('a signal ends the stream if the process has exited and a grandchild holds the output', async () => {
    const started = await begin(daemon, sh('sleep 60 & echo $!'))
    const outcome = collect(started.rest)
    await until('the exit', () => !isRunning(started.pid))
    await daemon.process.sendSignal({ process: started.selector, signal: Signal.SIGTERM })
    const { end, stdout } = await outcome
    expect(end).toMatchObject({ exitCode: 0 })
    process.kill(Number(stdout), 'SIGKILL')
  })

  it('the deadline of a Start also ends the wait for a grandchild that holds the output (envd.md 8.7)', async () => {
    const started = await begin(daemon, sh('sleep 60 & echo $!'), { timeoutMs: 500 })
    const events = started.rest[Symbol.asyncIterator]()
    const first = (await events.next()).value?.event?.event?.value
    const grandchild = Number(Buffer.from(first?.output?.value ?? []).toString())
    const other = collect(daemon.process.connect({ process: started.selector }))
    expect((await failureOf(collect({ [Symbol.asyncIterator]: () => events }))).code).toBe('DeadlineExceeded')
    expect([(await other).end?.exitCode, isLive(started.pid), isRunning(grandchild)]).toEqual([0, false, true])
    process.kill(grandchild, 'SIGKILL')
  })

  it('SIGKILL is answered after the process has ended and was reaped', async () => {
    for (let round = 0; round < 20; round += 1) {
      const started = await begin(daemon, ['sleep', '60'])
      await kill(started.pid)
      expect(() => process.kill(started.pid, 0)).toThrow('ESRCH')
      expect(isLive(started.pid)).toBe(false)
      expect((await collect(started.rest)).end?.status).toBe('signal: killed')
    }
  })

  it('a process that other code has reaped ends with an error, and later ones are reaped as usual', async () => {
    const [first, second] = [await begin(daemon, ['sleep', '60']), await begin(daemon, ['cat'])]
    process.kill(first.pid, 'SIGKILL')
    // Reaps the child before the daemon does: this loop blocks the event loop.
    while (waitForChild(first.pid) === undefined);
    expect((await collect(first.rest)).end).toEqual({
      exitCode: -1,
      exited: false,
      status: 'wait: no child processes',
      error: 'wait: no child processes',
    })
    await daemon.process.closeStdin({ process: second.selector })
    expect((await collect(second.rest)).end?.exitCode).toBe(0)
  })

  it('a process that handles SIGTERM continues', async () => {
    const started = await begin(daemon, sh('trap "echo caught; exit 5" TERM; echo ready; while :; do sleep 0.02; done'))
    const events = started.rest[Symbol.asyncIterator]()
    await events.next()
    await daemon.process.sendSignal({ process: started.selector, signal: Signal.SIGTERM })
    expect(await collect({ [Symbol.asyncIterator]: () => events })).toMatchObject({ end: { exitCode: 5 } })
  })

  it('the deadline of a Start ends its stream and kills the process; other and late subscribers get the end (envd.md 18.61, 18.71)', async () => {
    const started = await begin(daemon, ['sleep', '60'], { timeoutMs: 300 })
    const other = collect(daemon.process.connect({ process: started.selector }))
    expect((await failureOf(collect(started.rest))).code).toBe('DeadlineExceeded')
    const killed = { end: { status: 'signal: killed', error: 'signal: killed', exitCode: -1, exited: false } }
    expect(await other).toMatchObject(killed)
    const late = await collect(daemon.process.connect({ process: started.selector }))
    expect(late).toMatchObject({ ...killed, pid: started.pid, kinds: ['start', 'end'] })
  })

  it('the deadline of a Start applies after its client has disconnected (envd.md 18.61)', async () => {
    const abandon = new AbortController()
    const started = await begin(daemon, ['sleep', '60'], { timeoutMs: 300, signal: abandon.signal })
    abandon.abort()
    await until('the end', () => !isLive(started.pid))
  })

  it('the deadline of a Connect ends only the stream (envd.md 18.61)', async () => {
    const started = await begin(daemon, ['sleep', '60'])
    const failure = await failureOf(collect(daemon.process.connect({ process: started.selector }, { timeoutMs: 100 })))
    expect(failure.code).toBe('DeadlineExceeded')
    expect(isLive(started.pid)).toBe(true)
    await kill(started.pid)
  })

  it('a timeout of 0 starts the process and ends the stream before its first event', async () => {
    const failed = await failureOf(run(daemon, ['sleep', '60'], { headers: { 'connect-timeout-ms': '0' } }))
    expect(failed).toEqual({ code: 'DeadlineExceeded', message: 'context deadline exceeded' })
    const [live] = daemon.context.processes.list().filter(({ config }) => config.args[0] === '60')
    await kill(live?.pid ?? 0)
  })

  it('keepalives are sent at the interval after the last output (envd.md 18.72)', async () => {
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
    const second = other.compressedProcess.connect({ process: started.selector })[Symbol.asyncIterator]()
    await second.next()
    const failures = [started.rest, { [Symbol.asyncIterator]: () => second }].map((events) => failureOf(collect(events)))
    other.shutDown()
    const ended = { code: 'Unavailable', message: 'the sandbox is shutting down' }
    expect(await Promise.all(failures)).toEqual([ended, ended])
  })
})

type Events = ReturnType<TestDaemon['process']['start']>

/** Ends the process of a stream when the first keepalive event has come. */
async function* endAfterKeepalive(events: Events) {
  let pid = 0
  let isEnding = false
  for await (const message of events) {
    const event = message.event?.event
    if (event?.case === 'start') pid = event.value.pid
    if (event?.case === 'keepalive' && !isEnding) {
      isEnding = true
      await daemon.process.sendSignal({ process: { selector: { case: 'pid', value: pid } }, signal: Signal.SIGTERM })
    }
    yield message
  }
}

describe('a compressed stream', () => {
  const start = (script: string, options: CallOptions = {}) =>
    daemon.compressedProcess.start({ process: { cmd: '/bin/sh', args: ['-c', script], cwd: '/' }, stdin: false }, options)

  it('has the same events', async () => {
    const script = `trap 'exit 3' TERM; head -c 200000 /dev/zero | tr '\\0' a; echo err >&2; while :; do sleep 0.1; done`
    const outcome = await collect(endAfterKeepalive(start(script, { headers: { 'keepalive-ping-interval': '1' } })))
    expect([outcome.stdout.length, outcome.stderr, outcome.end?.exitCode]).toEqual([200_000, 'err\n', 3])
    expect(new Set(outcome.kinds)).toEqual(new Set(['start', 'stdout', 'stderr', 'keepalive', 'end']))
  })

  it('ends at its deadline and kills its process (envd.md 18.62)', async () => {
    expect((await failureOf(collect(start('sleep 60', { timeoutMs: 200 })))).code).toBe('DeadlineExceeded')
    await until('the kill', () => !daemon.context.processes.list().some(({ config }) => config.args.includes('sleep 60')))
    const never = start('sleep 61', { headers: { 'connect-timeout-ms': '0' } })
    expect(await failureOf(collect(never))).toEqual({ code: 'DeadlineExceeded', message: 'context deadline exceeded' })
  })

  it('does not end its process when its client disconnects', async () => {
    const abandon = new AbortController()
    const events = start('echo; head -c 5000000 /dev/zero; exec sleep 62', { signal: abandon.signal })[Symbol.asyncIterator]()
    await events.next()
    abandon.abort()
    const live = () => daemon.context.processes.list().find(({ config }) => config.args[1]?.endsWith('sleep 62'))
    await until('a process that is not stalled', () => proc(live()?.pid ?? 0, 'cmdline')?.startsWith('sleep') === true)
    await kill(live()?.pid ?? 0)
  })
})

/** Opens a stream and does not read it. */
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
