import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { begin, collect, run, sh } from './support/collect.ts'
import { envelope, stream, unary } from './support/raw-rpc.ts'
import { startDaemon, type TestDaemon } from './support/test-daemon.ts'

let daemon: TestDaemon

beforeAll(async () => {
  daemon = await startDaemon()
})
afterAll(() => daemon[Symbol.asyncDispose]())

async function call(method: string, body: object): Promise<[number, string | undefined]> {
  const { status, text } = await unary(daemon.url, `process.Process/${method}`, body)
  return [status, (JSON.parse(text) as { message?: string }).message]
}

/** The first message of the answer to a stream of input. */
async function streamInput(...messages: object[]): Promise<unknown> {
  const { envelopes } = await stream(daemon.url, 'process.Process/StreamInput', Buffer.concat(messages.map((message) => envelope(message))))
  return envelopes[0]?.message
}

const sleeper = (request: object = {}) => begin(daemon, ['sleep', '600'], { request })
async function end({ pid, rest }: Awaited<ReturnType<typeof begin>>): Promise<void> {
  expect(await call('SendSignal', { process: { pid }, signal: 'SIGNAL_SIGKILL' })).toEqual([200, undefined])
  await collect(rest)
}

describe('[process.Process/SendSignal] [process.Process/SendInput] [process.Process/CloseStdin] [process.Process/Update] selectors', () => {
  it('a tag may be any text and selects the newest process that has it (envd.md 18.76)', async () => {
    const started = []
    for (const tag of ['a', '', 'b', 'a', 'c']) started.push(await sleeper({ tag }))
    const [oldest, empty, , newest] = started
    const connected = async (tag: string) => {
      const events = daemon.process.connect({ process: { selector: { case: 'tag', value: tag } } })[Symbol.asyncIterator]()
      const first = await events.next()
      await events.return?.()
      return first.done === true ? undefined : first.value.event?.event.value
    }
    expect(await connected('a')).toMatchObject({ pid: newest?.pid })
    expect(await connected('')).toMatchObject({ pid: empty?.pid })
    if (newest !== undefined) await end(newest)
    expect(await connected('a')).toMatchObject({ pid: oldest?.pid })
    for (const process of started) if (process !== newest) await end(process)
  })

  it('processes that the daemon did not start are not found (envd.md 18.78)', async () => {
    for (const pid of [1, process.pid]) {
      const refused = [404, `process with pid ${pid} not found`]
      expect(await call('SendSignal', { process: { pid }, signal: 'SIGNAL_SIGTERM' })).toEqual(refused)
      expect(await call('SendInput', { process: { pid }, input: { stdin: 'YQ==' } })).toEqual(refused)
      expect(await call('CloseStdin', { process: { pid } })).toEqual(refused)
      expect(await call('Update', { process: { pid }, pty: {} })).toEqual(refused)
      expect(await streamInput({ start: { process: { pid } } })).toEqual({ error: { code: 'not_found', message: refused[1] } })
    }
  })
})

describe('[process.Process/Update] [process.Process/CloseStdin] [process.Process/SendInput] a process without a terminal', () => {
  it('refuses a size, and accepts an update without one (envd.md 18.73)', async () => {
    const started = await sleeper()
    const process = { pid: started.pid }
    expect(await call('Update', { process })).toEqual([200, undefined])
    expect(await call('Update', { process, pty: { size: { cols: 1, rows: 1 } } })).toEqual([
      500,
      'error resizing tty: tty not assigned to process',
    ])
    await end(started)
  })

  it('accepts repeated ends of its input, also if it has no input (envd.md 18.74)', async () => {
    for (const stdin of [true, false]) {
      const started = await sleeper({ stdin })
      for (let time = 0; time < 3; time += 1) expect(await call('CloseStdin', { process: { pid: started.pid } })).toEqual([200, undefined])
      const refused = [500, 'error writing to stdin: stdin not enabled or closed']
      expect(await call('SendInput', { process: { pid: started.pid }, input: { stdin: 'YQ==' } })).toEqual(refused)
      await end(started)
    }
  })

  it('refuses terminal input and empty input (envd.md 18.75)', async () => {
    const started = await sleeper()
    const process = { pid: started.pid }
    const refused = 'error writing to tty: tty not assigned to process — input should be written to the stdin, not the tty'
    expect(await call('SendInput', { process, input: { pty: 'YQ==' } })).toEqual([500, refused])
    expect(await call('SendInput', { process, input: {} })).toEqual([501, 'invalid input type <nil>'])
    expect(await streamInput({ start: { process } }, { data: { input: { pty: 'YQ==' } } })).toEqual({
      error: { code: 'internal', message: refused },
    })
    await end(started)
  })

  it('a process on a terminal ignores the flag `stdin` (envd.md 18.60)', async () => {
    const { pty } = await run(daemon, sh('test -t 0 && echo terminal'), { request: { stdin: false, pty: {} } })
    expect(pty).toBe('terminal\r\n')
  })
})

describe('[process.Process/StreamInput]', () => {
  it('reports invalid messages, and keeps the input written before them (envd.md 18.77)', async () => {
    const started = await begin(daemon, ['cat'], { request: { stdin: true } })
    const outcome = collect(started.rest)
    const start = { start: { process: { pid: started.pid } } }
    const data = (text: string) => ({ data: { input: { stdin: Buffer.from(text).toString('base64') } } })
    const error = (code: string, message: string) => ({ error: { code, message } })
    expect(await streamInput(data('lost'))).toEqual(error('invalid_argument', 'the first message must be the start'))
    expect(await streamInput(start, data('a'), {})).toEqual(error('unimplemented', 'invalid event type <nil>'))
    expect(await streamInput(start, data('b'), { start: { process: { pid: 1 } } }, data('lost'))).toEqual(
      error('not_found', 'process with pid 1 not found'),
    )
    expect(await streamInput(start, data('c'), { keepalive: {} }, data('d'))).toEqual({})
    expect(await streamInput()).toEqual({})
    expect(await call('CloseStdin', { process: { pid: started.pid } })).toEqual([200, undefined])
    expect((await outcome).stdout).toBe('abcd')
  })
})
