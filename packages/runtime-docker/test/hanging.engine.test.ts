import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { SandboxRef } from '@sandyard/runtime/types'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { randomId } from '@sandyard/kit/ids/ids'
import type { DockerRuntime } from '../src/docker-runtime.ts'
import { containerName } from '../src/labels.ts'
import { EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { type Hang, HangingEngine } from './support/hanging-engine.ts'
import { Inside } from './support/inside.ts'

/** Much longer than a call takes while other test files use the engine. */
const callDeadlines = { short: { answerMs: 25_000 }, change: { answerMs: 25_000 } }

describe('a container whose calls hang', () => {
  const installation = `test-${randomId(8)}`
  const stack = new AsyncDisposableStack()
  let bench: EngineBench
  let engine: HangingEngine
  let runtime: DockerRuntime

  beforeAll(async () => {
    bench = stack.use(await EngineBench.open())
    engine = stack.use(await HangingEngine.open())
    runtime = await bench.runtime({ installation, dockerHost: engine.address, callDeadlines })
  })
  afterAll(() => stack.disposeAsync())

  /** Uses other sandboxes; this must finish while the hanging call is still pending. */
  async function useOthers(other?: SandboxRef): Promise<void> {
    const next = sandboxSpec()
    const endpoint = await runtime.create(next)
    expect(await new Inside(endpoint).isHealthy()).toBe(true)
    for (const keep of ['memory', 'files'] as const) {
      await runtime.resume(await runtime.pause(next, keep), { spec: next, keep })
    }
    expect((await runtime.list()).map(({ sandboxId }) => sandboxId)).toContain(next.sandboxId)
    expect((await runtime.usage([next])).has(next.sandboxId)).toBe(true)
    for (const spec of [next, ...(other === undefined ? [] : [other])]) await runtime.remove(spec)
  }

  it('does not delay the create, list and kill of others, and its own kill fails after the deadline', async () => {
    const [stuck, other] = [sandboxSpec(), sandboxSpec()]
    for (const spec of [stuck, other]) await runtime.create(spec)
    const name = containerName(installation, stuck)
    const { Id } = await bench.docker.getContainer(name).inspect()
    const hang = engine.hang(name, Id)
    onTestFinished(() => hang.release())
    const changes = [runtime.remove(stuck), runtime.remove(stuck), runtime.pause(stuck, 'memory')]
    const outcomes = Promise.all(changes.map((change) => change.catch((err: unknown) => err)))
    const usage = runtime.usage([stuck, other])
    await hang.untilWaiting(4)
    await useOthers(other)
    // The runtime's own upkeep may ask for the stuck container too.
    expect(hang.waiting).toBeGreaterThanOrEqual(4)
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ kind: 'deadline_exceeded', message: 'The Docker engine did not answer in time.' })
    }
    expect([...(await usage).keys()]).toEqual([other.sandboxId])
    hang.release()
    await runtime.remove(stuck)
    expect(await runtime.list()).toEqual([])
  })

  it('does not delay later creates, whichever call of its own create hangs', async () => {
    const steps = [/\/start$/, /\/json$/]
    const stuck = steps.map(() => sandboxSpec())
    const created: Promise<unknown>[] = []
    const hangs: Hang[] = []
    for (const [index, step] of steps.entries()) {
      const spec = stuck[index] ?? sandboxSpec()
      // The runtime also starts helpers of its own, such as a probe when other test files change the host's addresses.
      const hang = engine.hangOnce(({ path, container }) => step.test(path) && container === containerName(installation, spec))
      created.push(runtime.create(spec).catch((err: unknown) => err))
      await hang.untilWaiting()
      hangs.push(hang)
    }
    await useOthers()
    expect(hangs.map(({ waiting }) => waiting)).toEqual(steps.map(() => 1))
    for (const outcome of await Promise.all(created)) expect(outcome).toMatchObject({ kind: 'deadline_exceeded' })
    for (const spec of stuck) await runtime.remove(spec)
    expect(await runtime.list()).toEqual([])
  })
})

describe('the deadlines of the engine', () => {
  it('end a ping without an answer, and so does an abort of its caller', async () => {
    await using bench = await EngineBench.open()
    await using engine = await HangingEngine.open()
    const runtime = await bench.runtime({ dockerHost: engine.address, callDeadlines: { ping: { answerMs: 1000 } } })
    const hang = engine.hangWhere(({ path }) => path.endsWith('/_ping'))
    await expect(runtime.ping(new AbortController().signal)).rejects.toMatchObject({ kind: 'deadline_exceeded' })
    const reason = new Error('aborted by the test')
    const abort = new AbortController()
    const asked = runtime.ping(abort.signal)
    await hang.untilWaiting()
    abort.abort(reason)
    await expect(asked).rejects.toBe(reason)
  })

  it('end a silent event stream and a silent build', async () => {
    await using bench = await EngineBench.open()
    const idle = { answerMs: 30_000, idleMs: 5000 }
    const runtime = await bench.runtime({ callDeadlines: { events: idle, build: idle } })
    expect(await Array.fromAsync(await runtime.events(new AbortController().signal))).toEqual([])
    const within = sandboxSpec()
    await runtime.create(within)
    const lines: string[] = []
    const dockerfile = `FROM ${within.image}\nRUN echo begun; sleep 1000\n`
    const build = runtime.images.buildDockerfile({ dockerfile, within, force: true, onLine: (line) => lines.push(line) })
    await expect(build).rejects.toMatchObject({ kind: 'deadline_exceeded' })
    expect(lines.at(-1)).toBe('begun')
  })
})

it('an engine that answers late starts sandboxes, none when it is later than the deadline, and all of them when it is fast again', async () => {
  await using bench = await EngineBench.open()
  await using engine = await HangingEngine.open()
  const runtime = await bench.runtime({ dockerHost: engine.address, callDeadlines: { change: { answerMs: 8000 } } })
  engine.lateMs = 300
  const slow = sandboxSpec()
  expect(await new Inside(await runtime.create(slow)).isHealthy()).toBe(true)
  engine.lateMs = 12_000
  const late = sandboxSpec()
  await expect(runtime.create(late)).rejects.toMatchObject({
    kind: 'deadline_exceeded',
    message: 'The Docker engine did not answer in time.',
  })
  engine.lateMs = 0
  // The engine may still make the container of the late call.
  await pollUntil({ what: 'the removal of the late sandbox', timeoutMs: 60_000, everyMs: 200 }, async () => {
    await runtime.remove(late)
    return engine.pending === 0 ? true : undefined
  })
  await runtime.remove(late)
  expect((await runtime.list()).map(({ sandboxId }) => sandboxId)).toEqual([slow.sandboxId])
  const next = sandboxSpec()
  expect(await new Inside(await runtime.create(next)).isHealthy()).toBe(true)
}, 300_000)
