import { setTimeout as delay } from 'node:timers/promises'
import { Signal } from '@sandyard/daemon-protocol/process/process_pb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { begin, collect, run, sh } from './support/collect.ts'
import { failureOf, startDaemon, type TestDaemon } from './support/test-daemon.ts'

let daemon: TestDaemon

beforeAll(async () => {
  daemon = await startDaemon()
})
afterAll(() => daemon[Symbol.asyncDispose]())

const LINES = 52_000
/** About 300 KB. */
const OUTPUT = Array.from({ length: LINES }, (_, index) => `${index + 1}\n`).join('')

/** Runs `work` for each index, four at a time. */
async function repeat(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  async function worker(): Promise<void> {
    for (; next < count;) await work(next++)
  }
  await Promise.all([worker(), worker(), worker(), worker()])
}

describe('[process.Process/Start] every byte comes before the end (envd.md 18.70)', () => {
  it.each([
    ['of a program that exits at once', ['/usr/bin/seq', String(LINES)], 'exit status 0'],
    ['of a program that a signal ends', sh(`seq ${LINES}; kill -KILL $$`), 'signal: killed'],
    ['of a background process that the program leaves', sh(`(sleep 0.05; exec seq ${LINES}) &`), 'exit status 0'],
  ])('%s', { timeout: 60_000 }, async (_, command, status) => {
    await repeat(30, async () => {
      const { stdout, kinds, end } = await run(daemon, command)
      expect([stdout === OUTPUT, kinds, end?.status]).toEqual([true, ['start', 'stdout', 'end'], status])
    })
  })
})

describe('[process.Process/Connect] every subscriber gets every byte before the end (envd.md 18.70)', () => {
  it('at its own pace, while another subscriber disconnects', { timeout: 60_000 }, async () => {
    const started = await begin(daemon, sh(`read x; seq ${LINES}; seq ${LINES}; exit 4`), { request: { stdin: true } })
    const subscribe = async (signal?: AbortSignal) => {
      const events = daemon.process.connect({ process: started.selector }, signal === undefined ? {} : { signal })[Symbol.asyncIterator]()
      await events.next()
      return events
    }
    const abandon = new AbortController()
    const [quick, slow, leaving] = await Promise.all([subscribe(), subscribe(), subscribe(abandon.signal)])
    const outcomes = Promise.all([collect(started.rest), collect(toIterable(quick)), collect(toIterable(pacedBy(slow, 5)))])
    await daemon.process.sendInput({ process: started.selector, input: { input: { case: 'stdin', value: Buffer.from('go\n') } } })
    await leaving.next()
    abandon.abort()
    for (const { stdout, kinds, end } of await outcomes) {
      expect([stdout.length, stdout === OUTPUT + OUTPUT, kinds.at(-1), end?.exitCode]).toEqual([2 * OUTPUT.length, true, 'end', 4])
    }
  })

  it('and gets start and end if it subscribes around the exit (envd.md 18.71)', { timeout: 60_000 }, async () => {
    await repeat(300, async (index) => {
      const started = await begin(daemon, ['/bin/true'], { request: { stdin: false } })
      // Some subscribe before the exit, some after it, most around it.
      if (index % 3 > 0) await delay(index % 7)
      const late = await collect(daemon.process.connect({ process: started.selector }))
      expect(late).toMatchObject({ kinds: ['start', 'end'], pid: started.pid, end: { exitCode: 0, status: 'exit status 0' } })
      expect((await collect(started.rest)).kinds).toEqual(['end'])
    })
  })
})

describe('[process.Process/Connect] a process that has ended', () => {
  it('is found only by Connect, by pid and by tag, until another process uses its tag (envd.md 18.71)', async () => {
    const request = { tag: 'again' }
    const process = { selector: { case: 'tag' as const, value: 'again' } }
    const { pid } = await run(daemon, sh('exit 5'), { request })
    const byPid = { selector: { case: 'pid' as const, value: pid } }
    for (const selector of [process, byPid]) {
      expect(await collect(daemon.process.connect({ process: selector }))).toMatchObject({
        kinds: ['start', 'end'],
        pid,
        end: { exitCode: 5 },
      })
    }
    const refused = { code: 'NotFound', message: `process with pid ${pid} not found` }
    expect(await failureOf(daemon.process.sendSignal({ process: byPid, signal: Signal.SIGKILL }))).toEqual(refused)
    expect(await failureOf(daemon.process.closeStdin({ process: byPid }))).toEqual(refused)
    expect(await failureOf(daemon.process.update({ process: byPid }))).toEqual(refused)
    const next = await run(daemon, sh('exit 6'), { request })
    expect(await collect(daemon.process.connect({ process }))).toMatchObject({ pid: next.pid, end: { exitCode: 6 } })
    expect((await failureOf(collect(daemon.process.connect({ process: byPid })))).code).toBe('NotFound')
  })
})

async function* pacedBy<T>(events: AsyncIterator<T>, pauseMs: number): AsyncGenerator<T> {
  for (let next = await events.next(); next.done !== true; next = await events.next()) {
    yield next.value
    await delay(pauseMs)
  }
}

function toIterable<T>(iterator: AsyncIterator<T>): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => iterator }
}
