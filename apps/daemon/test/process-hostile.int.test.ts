import { Signal } from '@sandyard/daemon-protocol/process/process_pb'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { begin, collect, run, sh } from './support/collect.ts'
import { measure } from './support/daemon-figures.ts'
import { type DaemonProcess, startDaemonProcess } from './support/daemon-process.ts'
import { hostileProcessRequests } from './support/hostile-process-requests.ts'
import { connectTo } from './support/process-client.ts'
import { envelope, stream, unary } from './support/raw-rpc.ts'
import { openCall, toChunk } from './support/raw-stream.ts'
import { createScratchDirectory } from './support/scratch-directory.ts'
import { sendAll } from './support/send-hostile.ts'
import { failureOf } from './support/test-daemon.ts'

let daemon: DaemonProcess
let scratch: Awaited<ReturnType<typeof createScratchDirectory>>
let caller: ReturnType<typeof connectTo>

beforeAll(async () => {
  scratch = await createScratchDirectory()
  daemon = await startDaemonProcess(scratch.path)
  caller = connectTo(daemon.url)
})
afterAll(async () => {
  await daemon[Symbol.asyncDispose]()
  await scratch[Symbol.asyncDispose]()
})

const byPid = (pid: number) => ({ selector: { case: 'pid' as const, value: pid } })
const kill = (pid: number) => caller.process.sendSignal({ process: byPid(pid), signal: Signal.SIGKILL })
const until = (what: string, probe: () => boolean) =>
  pollUntil({ what, timeoutMs: 20_000, everyMs: 20 }, () => (probe() ? true : undefined))
const figures = () => measure(daemon.pid)

it('1,000 invalid requests get client errors and leave no descriptors and no processes', { timeout: 60_000 }, async () => {
  const target = await begin(caller, ['sleep', '600'], { request: { tag: 'target' } })
  const before = figures()
  expect(await sendAll(daemon.url, hostileProcessRequests(target.pid, 1000), 16)).toEqual([])
  await kill(target.pid)
  await collect(target.rest)
  // Some mutated requests are valid and start short processes.
  await until('descriptors to be closed', () => figures().descriptors <= before.descriptors)
  expect((await caller.process.list({})).processes).toEqual([])
  expect((await run(caller, ['/bin/echo', 'fine'])).stdout).toBe('fine\n')
})

describe('[process.Process/Start] too large or odd requests', () => {
  const tooLong = (what: string) => ({
    code: 'InvalidArgument',
    message: expect.stringMatching(new RegExp(`^error starting process '.*': fork/exec /bin/sh: ${what}$`, 's')) as string,
  })

  it.each([
    ['a variable', { cmd: '/bin/true', envs: { A: 'x'.repeat(200_000) } }, 'argument list too long'],
    [
      'many variables',
      { cmd: 'true', envs: Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`V${index}`, 'x'.repeat(100_000)])) },
      'argument list too long',
    ],
    ['arguments', { cmd: '/bin/true', args: Array.from({ length: 65_536 }, () => 'x'.repeat(64)) }, 'argument list too long'],
    ['a directory', { cmd: '/bin/true', cwd: `/${'a'.repeat(4100)}` }, 'file name too long'],
    ['a path of directories', { cmd: '/bin/true', cwd: '/a'.repeat(2500) }, 'file name too long'],
  ])('refuses %s of too many bytes', async (_, config, text) => {
    expect(await failureOf(run(caller, [], { config }))).toEqual(tooLong(text))
  })

  it('accepts 65,536 arguments', async () => {
    const config = { cmd: '/bin/sh', args: ['-c', 'echo $#', 'sh', ...Array.from({ length: 65_536 }, () => 'a')] }
    expect((await run(caller, [], { config })).stdout).toBe('65536\n')
  })

  it('passes variables with an empty name, `=` or a line break in the name to the process unchanged', async () => {
    const { stdout, end } = await run(caller, ['/usr/bin/env', '-0'], { config: { envs: { '': '1', 'A=B': '2', 'C\nD': '3', E: '' } } })
    expect(stdout.split('\0')).toEqual(expect.arrayContaining(['=1', 'A=B=2', 'C\nD=3', 'E=']))
    expect(end?.exitCode).toBe(0)
  })

  it.each([
    [
      'bytes that are not UTF-8',
      Buffer.concat([Buffer.from('{"process":{"cmd":"/bin/echo","args":["'), Buffer.of(0xff, 0xfe), Buffer.from('"]}}')]),
    ],
    ['half a surrogate', Buffer.from('{"process":{"cmd":"/bin/echo","args":["\\ud800"]}}')],
  ])('refuses %s', async (_, body) => {
    const { envelopes } = await stream(daemon.url, 'process.Process/Start', envelope(body))
    const message = expect.stringMatching(/utf-?8/i) as string
    expect(envelopes).toEqual([{ flags: 2, message: { error: { code: 'invalid_argument', message } } }])
  })
})

describe('[process.Process/SendSignal] numbers out of range', () => {
  it.each([
    [{ pid: 4_294_967_295 }, 9, 404, /^process with pid 4294967295 not found$/],
    [{ pid: 4_294_967_296 }, 9, 400, /out of range$/],
    [{ pid: -1 }, 9, 400, /out of range$/],
    [{ pid: 0 }, 9, 404, /^process with pid 0 not found$/],
    [{ pid: 1 }, 2_147_483_648, 400, /out of range$/],
    [{ tag: 'target' }, -1, 501, /^invalid signal: -1$/],
    [{ tag: 'target' }, 2_147_483_647, 501, /^invalid signal: 2147483647$/],
    [{ tag: 'target' }, 19, 501, /^invalid signal: 19$/],
  ])('refuses %j with signal %d', async (selector, signal, status, text) => {
    const target = await begin(caller, ['sleep', '600'], { request: { tag: 'target' } })
    const answer = await unary(daemon.url, 'process.Process/SendSignal', { process: selector, signal })
    expect([answer.status, (JSON.parse(answer.text) as { message: string }).message]).toEqual([status, expect.stringMatching(text)])
    expect((await caller.process.list({})).processes.map(({ pid }) => pid)).toEqual([target.pid])
    await kill(target.pid)
    await collect(target.rest)
  })
})

describe('[process.Process/SendInput] [process.Process/StreamInput] a process that never reads', () => {
  it.each([
    ['a pipe', 'stdin', { stdin: true }],
    ['a terminal', 'pty', { pty: { size: { cols: 80, rows: 24 } } }],
  ] as const)('drops the pending input of clients that have disconnected: %s', { timeout: 60_000 }, async (_, kind, request) => {
    const target = await begin(caller, sh('stty raw -echo 2>/dev/null; echo; exec sleep 600'), { request })
    // The first output shows that stty has set the mode of the terminal.
    await target.rest[Symbol.asyncIterator]().next()
    const process = { pid: target.pid }
    const input = { [kind]: Buffer.alloc(512 * 1024).toString('base64') }
    const before = figures()
    const gone = new AbortController()
    const calls = Array.from({ length: 60 }, () =>
      fetch(`${daemon.url}/process.Process/SendInput`, {
        method: 'POST',
        signal: gone.signal,
        headers: { 'content-type': 'application/json', 'connect-protocol-version': '1' },
        body: JSON.stringify({ process, input }),
      }).then(
        () => 'answered',
        () => 'aborted',
      ),
    )
    const sockets = await Promise.all(
      Array.from({ length: 60 }, () => openCall(daemon.url, 'StreamInput', [{ start: { process } }, { data: { input } }])),
    )
    await until('all connections', () => figures().descriptors >= before.descriptors + 100)
    gone.abort()
    for (const socket of sockets) socket.destroy()
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['aborted']))
    // The daemon still writes the input that the process has read in part.
    await until('the other calls to end', () => figures().descriptors <= before.descriptors + 4)
    expect((await run(caller, ['/bin/echo', 'others'])).stdout).toBe('others\n')
    await kill(target.pid)
    expect((await collect(target.rest)).end?.status).toBe('signal: killed')
  })

  it('gets thousands of messages in order when it reads, also if they arrive in small pieces', async () => {
    const target = await begin(caller, ['/bin/sh', '-c', 'exec cat'], { request: { stdin: true } })
    const outcome = collect(target.rest)
    const process = { pid: target.pid }
    const lines = Array.from({ length: 5000 }, (_, index) => `${index}\n`)
    const messages = lines.map((line) => envelope({ data: { input: { stdin: Buffer.from(line).toString('base64') } } }))
    const socket = await openCall(daemon.url, 'StreamInput', [{ start: { process } }])
    for (const [index, message] of messages.entries()) {
      const at = index % message.length
      socket.write(Buffer.concat([message.subarray(0, at), message.subarray(at)].filter(({ length }) => length > 0).map(toChunk)))
    }
    socket.end('0\r\n\r\n')
    await new Promise((resolve) => socket.once('close', resolve).resume())
    await caller.process.closeStdin({ process: byPid(target.pid) })
    expect((await outcome).stdout).toBe(lines.join(''))
  })

  it('a stream of input that is cut in the middle of a message delivers the complete messages', async () => {
    const target = await begin(caller, ['cat'], { request: { stdin: true } })
    const outcome = collect(target.rest)
    const process = { pid: target.pid }
    const socket = await openCall(daemon.url, 'StreamInput', [
      { start: { process } },
      { data: { input: { stdin: Buffer.from('whole').toString('base64') } } },
    ])
    socket.write(toChunk(Buffer.from([0, 0, 0, 0, 99, 0x7b])), () => socket.destroy())
    await new Promise((resolve) => socket.once('close', resolve))
    // The input of this call waits until the first call has ended.
    await pollUntil({ what: 'the end of the first call', timeoutMs: 20_000, everyMs: 20 }, async () => {
      await caller.process.sendInput({ process: byPid(target.pid), input: { input: { case: 'stdin', value: Buffer.from('.') } } })
      return true
    })
    await caller.process.closeStdin({ process: byPid(target.pid) })
    expect((await outcome).stdout.replaceAll('.', '')).toBe('whole')
  })
})
