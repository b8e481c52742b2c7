import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SandboxState } from '@sandyard/db/schema/sandbox'
import type { FaultPoint } from '@sandyard/runtime/fake/faults'
import { createWorld, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ loops: true, env: { SANDYARD_MAX_SANDBOXES: '1000' } })
  noteWaiting(api.ctx.sandboxes)
})
afterAll(() => world[Symbol.asyncDispose]())

/** The sandboxes that a request has looked at and found in a transition. */
const waiting = new Set<string>()
function noteWaiting({ changes }: Server['ctx']['sandboxes']): void {
  const until = changes.until.bind(changes)
  changes.until = (id, look, options) => {
    const noted = async (): ReturnType<typeof look> => {
      const found = await look()
      if (found === undefined) waiting.add(id)
      return found
    }
    return until(id, noted, options)
  }
}

const create = async (body: object = {}): Promise<string> => {
  const answer = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 600, ...body } })
  expect(answer.status).toBe(201)
  return answer.body.sandboxID
}
const ask = (id: string, action: string, body?: object): Promise<Answer> =>
  api.call('POST', `/sandboxes/${id}/${action}`, body === undefined ? {} : { body })
const rowOf = (id: string) => world.database.db.selectFrom('sandbox').selectAll().where('sandbox_id', '=', id).executeTakeFirst()
const stateOf = async (id: string): Promise<SandboxState | undefined> => (await rowOf(id))?.state
const untilState = (id: string, state: SandboxState | undefined): Promise<void> =>
  waitFor(`the state ${state}`, async () => (await stateOf(id)) === state)
const countCalls = (point: FaultPoint, { runtime }: Server = api): number => runtime.faults.calls.filter((call) => call === point).length
const engineState = (id: string) => [...world.engine.sandboxes.values()].find(({ spec }) => spec.sandboxId === id)?.state

const REQUESTS: Readonly<Record<string, (id: string) => Promise<Answer>>> = {
  GET: (id) => api.call('GET', `/sandboxes/${id}`),
  DELETE: (id) => api.call('DELETE', `/sandboxes/${id}`),
  pause: (id) => ask(id, 'pause'),
  resume: (id) => ask(id, 'resume', { timeout: 60 }),
  connect: (id) => ask(id, 'connect', { timeout: 60 }),
  timeout: (id) => ask(id, 'timeout', { timeout: 60 }),
  refreshes: (id) => ask(id, 'refreshes', { duration: 60 }),
  network: (id) => api.call('PUT', `/sandboxes/${id}/network`, { body: {} }),
  snapshots: (id) => ask(id, 'snapshots'),
  fork: (id) => ask(id, 'fork', { timeout: 60 }),
}

/**
 * The statuses of control-plane.md 17.2. A network update works on a paused sandbox too, and waits for a transition, where 17.2 refuses it. Those marked with `waits` are answered after the transition in flight has ended.
 */
const MATRIX: Readonly<Record<string, Readonly<Record<string, number | { readonly waits: number }>>>> = {
  running: {
    GET: 200,
    DELETE: 204,
    pause: 204,
    resume: 409,
    connect: 200,
    timeout: 204,
    refreshes: 204,
    network: 204,
    snapshots: 201,
    fork: 201,
  },
  paused: {
    GET: 200,
    DELETE: 204,
    pause: 409,
    resume: 201,
    connect: 201,
    timeout: 404,
    refreshes: 404,
    network: 204,
    snapshots: 404,
    fork: 409,
  },
  unknown: {
    GET: 404,
    DELETE: 404,
    pause: 404,
    resume: 404,
    connect: 404,
    timeout: 404,
    refreshes: 404,
    network: 404,
    snapshots: 404,
    fork: 404,
  },
  pausing: {
    GET: 200,
    DELETE: 204,
    pause: { waits: 204 },
    resume: { waits: 201 },
    connect: { waits: 201 },
    timeout: 409,
    refreshes: 409,
    network: { waits: 204 },
    snapshots: 409,
    fork: 409,
  },
  resuming: {
    GET: 200,
    DELETE: 204,
    pause: { waits: 204 },
    resume: { waits: 201 },
    connect: { waits: 201 },
    timeout: 404,
    refreshes: 404,
    network: { waits: 204 },
    snapshots: 404,
    fork: 409,
  },
  snapshotting: {
    GET: 200,
    DELETE: { waits: 204 },
    pause: { waits: 204 },
    resume: 409,
    connect: { waits: 200 },
    timeout: 409,
    refreshes: 409,
    network: { waits: 204 },
    snapshots: 409,
    fork: 409,
  },
  killing: {
    GET: 404,
    DELETE: 204,
    pause: 409,
    resume: 404,
    connect: 409,
    timeout: 409,
    refreshes: 409,
    network: 409,
    snapshots: 409,
    fork: 409,
  },
}

/** Brings a new sandbox into the state; the returned function lets a transition end. */
const ENTER: Readonly<Record<string, () => Promise<{ id: string; release: () => void }>>> = {
  running: async () => ({ id: await create(), release: () => undefined }),
  unknown: async () => ({ id: 'i0123456789abcdefghi', release: () => undefined }),
  paused: async () => {
    const id = await create()
    expect((await ask(id, 'pause')).status).toBe(204)
    return { id, release: () => undefined }
  },
  pausing: () => enterBy('pause', 'pausing', (id) => ask(id, 'pause')),
  resuming: async () => {
    const { id } = await (ENTER['paused'] as () => Promise<{ id: string }>)()
    const hold = api.runtime.faults.hold('resume')
    void ask(id, 'resume', { timeout: 600 })
    await hold.reached
    return { id, release: () => hold.release() }
  },
  snapshotting: () => enterBy('snapshot', 'snapshotting', (id) => ask(id, 'snapshots')),
  // By the end time: what a request has killed counts as unknown.
  killing: () => enterBy('remove', 'killing', (id) => ask(id, 'timeout', { timeout: 0 })),
}

async function enterBy(
  point: 'pause' | 'snapshot' | 'remove',
  state: SandboxState,
  request: (id: string) => Promise<Answer>,
): Promise<{ id: string; release: () => void }> {
  const id = await create()
  const hold = api.runtime.faults.hold(point)
  void request(id)
  await hold.reached
  await untilState(id, state)
  return { id, release: () => hold.release() }
}

const CASES = Object.entries(MATRIX).flatMap(([state, row]) =>
  Object.entries(row).map(([request, wanted]) => ({ state, request, wanted, status: typeof wanted === 'number' ? wanted : wanted.waits })),
)

describe('the request x state matrix of control-plane.md 17.2', () => {
  it.each(CASES)('$request on a sandbox in state $state is $status', async ({ state, request, wanted, status }) => {
    const { id, release } = await (ENTER[state] as (typeof ENTER)[string])()
    const answer = (REQUESTS[request] as (typeof REQUESTS)[string])(id)
    if (typeof wanted === 'number') {
      expect(await answer.then((got) => [got.status, got.text])).toEqual([status, expect.anything()])
      release()
    } else {
      await waitFor('the request to wait', () => waiting.has(id))
      // Another request is answered meanwhile: the waiting one holds up nobody.
      expect((await api.call('GET', `/sandboxes/${id}`)).status).toBe(200)
      release()
      expect((await answer).status).toBe(status)
    }
  })
})

describe('races', () => {
  it('pause against kill: the sandbox is gone, and nothing is left on the engine', async () => {
    const { id, release } = await (ENTER['pausing'] as (typeof ENTER)[string])()
    expect((await api.call('DELETE', `/sandboxes/${id}`)).status).toBe(204)
    release()
    await untilState(id, undefined)
    expect(engineState(id)).toBeUndefined()
  })

  it('a pause at the end time against kill: the removal follows the pause at once', async () => {
    const id = await create({ autoPause: true })
    const hold = api.runtime.faults.hold('pause')
    expect((await ask(id, 'timeout', { timeout: 0 })).status).toBe(204)
    await hold.reached
    expect((await api.call('DELETE', `/sandboxes/${id}`)).status).toBe(204)
    hold.release()
    await api.ctx.sandboxes.repairs.drain()
    expect(await stateOf(id)).toBeUndefined()
    expect(engineState(id)).toBeUndefined()
  })

  it('resume against kill: the sandbox is gone, and nothing is left on the engine', async () => {
    const { id, release } = await (ENTER['resuming'] as (typeof ENTER)[string])()
    expect((await api.call('DELETE', `/sandboxes/${id}`)).status).toBe(204)
    release()
    await untilState(id, undefined)
    expect(engineState(id)).toBeUndefined()
  })

  it('pause against pause: both are told that it is paused, and the runtime was asked once', async () => {
    const id = await create()
    const before = countCalls('pause')
    const hold = api.runtime.faults.hold('pause')
    const first = ask(id, 'pause')
    await hold.reached
    const second = ask(id, 'pause')
    await waitFor('the second request to wait', () => waiting.has(id))
    hold.release()
    expect([await first, await second].map(({ status }) => status)).toEqual([204, 204])
    expect(countCalls('pause') - before).toBe(1)
  })

  it('20 connects to a paused sandbox resume it once', async () => {
    const { id } = await (ENTER['paused'] as (typeof ENTER)[string])()
    const before = countCalls('resume')
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => ask(id, 'connect', { timeout: 100 + at })))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => expect.toBeOneOf([200, 201])))
    expect(answers.some(({ status }) => status === 201)).toBe(true)
    expect(countCalls('resume') - before).toBe(1)
    const { body } = await api.call('GET', `/sandboxes/${id}`)
    expect(body.state).toBe('running')
    expect(Date.parse(body.endAt) - Date.parse(body.startedAt)).toBeGreaterThanOrEqual(118_000)
  })

  it('20 connects through two servers resume it once', async () => {
    const { id } = await (ENTER['paused'] as (typeof ENTER)[string])()
    const other = await world.startServer({ loops: true })
    const before = countCalls('resume')
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        (at % 2 === 0 ? api : other).call('POST', `/sandboxes/${id}/connect`, { body: { timeout: 100 } }),
      ),
    )
    expect(answers.every(({ status }) => status === 200 || status === 201)).toBe(true)
    expect(countCalls('resume') + countCalls('resume', other) - before).toBe(1)
  })

  it('resume against the end time: the new end time counts', async () => {
    const id = await create({ autoPause: true })
    expect((await ask(id, 'timeout', { timeout: 0 })).status).toBe(204)
    await untilState(id, 'paused')
    expect((await ask(id, 'connect', { timeout: 300 })).status).toBe(201)
    await api.call('GET', '/v2/sandboxes')
    expect(await stateOf(id)).toBe('running')
  })
})
