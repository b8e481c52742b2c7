import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { FakeEngine } from '@sandyard/runtime/fake/fake-engine'
import { addCaller, type Caller } from './support/build-callers.ts'
import { findJob, queueBuild, waitForEnd } from './support/builds.ts'
import { createWorld, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'

const MIB = 1024 ** 2
const GIB = 1024 * MIB
const CAPACITY = 'Failed to place sandbox: not enough capacity for the requested resources right now, please retry shortly'
const PLENTY: FakeEngine['memory'] = { totalBytes: 64 * GIB, availableBytes: 48 * GIB }
const SCARCE: FakeEngine['memory'] = { totalBytes: 64 * GIB, availableBytes: 1 * GIB }
const BUILT = { image: 'built:1', defaultUser: 'user', defaultWorkdir: '/home/user', env: {} }
const DISK: FakeEngine['disk'] = { sizeBytes: 100 * GIB, freeBytes: 60 * GIB }

let world: World
let api: Server
let acme: Caller
let other: Caller
let count = 0

beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ env: { SANDYARD_SHORTAGE_WAIT: '300ms', SANDYARD_MAX_SANDBOXES: '1000' } })
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(async () => {
  world.engine.memory = PLENTY
  world.engine.disk = DISK
  count += 1
  acme = await addCaller(world, api, `Acme${count}`)
  other = await addCaller(world, api, `Other${count}`)
})

const create = (caller: Caller, on: Server = api): Promise<Answer> =>
  on.call('POST', '/v2/sandboxes', { apiKey: caller.apiKey, body: { templateID: 'base' } })

const metric = async (server: Server, line: string): Promise<number> => {
  const text = await server.ctx.metrics.registry.metrics()
  const found = text.split('\n').find((each) => each.startsWith(`${line} `))
  return Number(found?.slice(line.length + 1))
}

const runtimeCalls = (server: Server, point: string): number => server.runtime.faults.calls.filter((call) => call === point).length

/** A server whose reading of the host is that of the last quarter of a second at most: the next start sees what the test has set. */
async function until(vitals: { memory?: FakeEngine['memory']; disk?: FakeEngine['disk'] }, isShort: boolean, server = api): Promise<void> {
  Object.assign(world.engine, vitals)
  await waitFor('the reading of the host', async () => (await server.ctx.sandboxes.admission.hasRoom(128)) !== isShort)
}

describe('a host that is short of memory', () => {
  it('refuses a create with 503 after a wait, without anything on the engine, and serves the next one when it has room again', async () => {
    await until({ memory: SCARCE }, true)
    const before = world.engine.sandboxes.size
    const creates = runtimeCalls(api, 'create')
    const refusedBefore = await metric(api, 'sandyard_starts_refused_total{reason="memory"}')
    const answer = await create(acme)
    expect(answer.body).toEqual({
      code: 503,
      message: `${CAPACITY}. The host is short of memory.`,
      error_code: 'sandbox_capacity_unavailable',
    })
    expect([answer.headers['retry-after'], answer.headers['should-retry']]).toEqual(['1', undefined])
    expect([world.engine.sandboxes.size, runtimeCalls(api, 'create')]).toEqual([before, creates])
    expect(await metric(api, 'sandyard_starts_refused_total{reason="memory"}')).toBe(refusedBefore + 1)
    expect((await acme.withKey('GET', '/v2/sandboxes')).body).toEqual([])
    await until({ memory: PLENTY }, false)
    expect((await create(acme)).status).toBe(201)
  })

  it('serves a create that waits as soon as memory is free, which a listener of the shortage may see to', async () => {
    const shortages: string[] = []
    const patient = await world.startServer({ env: { SANDYARD_SHORTAGE_WAIT: '20s' } })
    patient.ctx.sandboxes.admission.onShortage((shortage) => {
      shortages.push(shortage)
      world.engine.memory = PLENTY
    })
    await until({ memory: SCARCE }, true, patient)
    expect((await create(acme, patient)).status).toBe(201)
    expect(shortages).toEqual(['memory'])
  })

  it('refuses an idempotent create once; its repeat is served', async () => {
    await until({ memory: SCARCE }, true)
    const ask = (): Promise<Answer> => acme.withKey('POST', '/v2/sandboxes', { templateID: 'base' }, { 'idempotency-key': 'again' })
    expect((await ask()).status).toBe(503)
    await until({ memory: PLENTY }, false)
    expect((await ask()).status).toBe(201)
  })

  it('thaws paused sandboxes, and leaves paused what it cannot start from files', async () => {
    const ids: string[] = []
    for (const memory of [true, false]) {
      const { sandboxID } = (await create(acme)).body
      ids.push(sandboxID)
      expect((await acme.withKey('POST', `/sandboxes/${sandboxID}/pause`, { memory })).status).toBe(204)
    }
    const [frozen, stopped] = ids
    await until({ memory: SCARCE }, true)
    expect((await acme.withKey('POST', `/sandboxes/${frozen}/connect`, { timeout: 60 })).status).toBe(201)
    const refused = await acme.withKey('POST', `/sandboxes/${stopped}/connect`, { timeout: 60 })
    expect(refused.body).toMatchObject({ code: 503, error_code: 'sandbox_capacity_unavailable' })
    expect((await acme.withKey('GET', `/sandboxes/${stopped}`)).body.state).toBe('paused')
    await until({ memory: PLENTY }, false)
    expect((await acme.withKey('POST', `/sandboxes/${stopped}/connect`, { timeout: 60 })).status).toBe(201)
  })

  it('leaves a build in the queue until it has room again', async () => {
    const building = await world.startServer({ loops: true, buildRunner: async () => BUILT })
    await until({ memory: SCARCE }, true, building)
    const told = Promise.withResolvers<void>()
    building.ctx.sandboxes.admission.onShortage(() => told.resolve())
    const buildId = await queueBuild(world)
    await told.promise
    expect(await findJob(world, buildId)).toMatchObject({ attempt: 0, server_id: null })
    await until({ memory: PLENTY }, false, building)
    expect(await waitForEnd(world, buildId)).toMatchObject({ status: 'uploaded' })
  })

  it('refuses each fork by itself', async () => {
    const { sandboxID } = (await create(acme)).body
    await until({ memory: SCARCE }, true)
    const { status, body } = await acme.withKey('POST', `/sandboxes/${sandboxID}/fork`, { count: 2 })
    const error = { code: 503, message: `${CAPACITY}. The host is short of memory.` }
    expect([status, body]).toEqual([201, [{ error }, { error }]])
  })

  it('counts the starts in flight, which it has let in at the same moment', async () => {
    const tight = await world.startServer({ env: { SANDYARD_SHORTAGE_WAIT: '300ms', SANDYARD_HOST_MEMORY_RESERVE: '1GiB' } })
    await until({ memory: { totalBytes: 64 * GIB, availableBytes: GIB + 300 * MIB } }, false, tight)
    const holds = [0, 1, 2].map(() => tight.runtime.faults.hold('create'))
    const asked = Array.from({ length: 5 }, () => create(acme, tight))
    const refused = await Promise.race([Promise.all(asked), waitForRefusals(tight, 3)])
    expect(refused).toBe(3)
    for (const hold of holds) hold.release()
    const statuses = (await Promise.all(asked)).map(({ status }) => status).toSorted((a, b) => a - b)
    expect(statuses).toEqual([201, 201, 503, 503, 503])
  })

  async function waitForRefusals(server: Server, expected: number): Promise<number> {
    const line = 'sandyard_starts_refused_total{reason="memory"}'
    await waitFor('the refused starts', async () => (await metric(server, line)) >= expected)
    return metric(server, line)
  }

  it('runs more sandboxes than the sum of their limits while they use little', async () => {
    const small = await world.startServer({ env: { SANDYARD_MAX_SANDBOXES: '100' } })
    await until({ memory: { totalBytes: 8 * GIB, availableBytes: 6 * GIB } }, false, small)
    const answers = await Promise.all(Array.from({ length: 60 }, () => create(acme, small)))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 60 }, () => 201))
  })
})

it('an engine whose disk is nearly full refuses starts with 503', async () => {
  await until({ disk: { sizeBytes: 100 * GIB, freeBytes: GIB - 1 } }, true)
  const { body } = await create(acme)
  expect(body).toEqual({
    code: 503,
    message: `${CAPACITY}. The disk of the Docker engine is full.`,
    error_code: 'sandbox_capacity_unavailable',
  })
  await until({ disk: DISK }, false)
  expect((await create(acme)).status).toBe(201)
})

it('an engine that does not say what its host has starts sandboxes', async () => {
  const server = await world.startServer()
  server.runtime.faults.failBefore('vitals')
  expect((await create(acme, server)).status).toBe(201)
})

describe('the starts of a server', () => {
  it('have so many turns at once, one team after the other', async () => {
    const narrow = await world.startServer({ env: { SANDYARD_START_WIDTH: '1' } })
    const holds = Array.from({ length: 4 }, () => narrow.runtime.faults.hold('create'))
    const waiting = (count: number): Promise<void> =>
      waitFor('the waiting starts', async () => (await metric(narrow, 'sandyard_starts_waiting')) === count)
    const asked = [create(acme, narrow)]
    await holds[0]?.reached
    asked.push(create(acme, narrow), create(acme, narrow), create(acme, narrow))
    await waiting(3)
    const others = create(other, narrow)
    await waiting(4)
    expect(await metric(narrow, 'sandyard_starts_in_flight')).toBe(1)
    expect(await metric(narrow, 'sandyard_start_memory_reserved_bytes')).toBe(128 * MIB)
    for (const hold of holds.slice(0, 3)) {
      await hold.reached
      hold.release()
    }
    // It came last, and two of the first team still have no turn or hold one.
    expect((await others).status).toBe(201)
    await holds[3]?.reached
    await waiting(1)
    holds[3]?.release()
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect(await metric(narrow, 'sandyard_start_wait_seconds_count')).toBe(5)
  })

  it('have eight turns for each processor of the host of the engine', async () => {
    const usual = world.engine.host
    world.engine.host = { ...usual, processors: 1 }
    const single = await world.startServer()
    world.engine.host = usual
    const holds = Array.from({ length: 9 }, () => single.runtime.faults.hold('create'))
    const asked = holds.map(() => create(acme, single))
    await Promise.all(holds.slice(0, 8).map(({ reached }) => reached))
    await waitFor('the start without a turn', async () => (await metric(single, 'sandyard_starts_waiting')) === 1)
    expect(await metric(single, 'sandyard_starts_in_flight')).toBe(8)
    for (const hold of holds) hold.release()
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array.from(asked, () => 201))
  })

  it('are refused at once when all places to wait are taken, also those of one team', async () => {
    const crowded = await world.startServer({ env: { SANDYARD_START_WIDTH: '1', SANDYARD_MAX_WAITING_STARTS: '2' } })
    const hold = crowded.runtime.faults.hold('create')
    const running = create(acme, crowded)
    await hold.reached
    const waiting = create(acme, crowded)
    await waitFor('the waiting start', async () => (await metric(crowded, 'sandyard_starts_waiting')) === 1)
    const refused = await create(acme, crowded)
    expect(refused.body).toEqual({
      code: 503,
      message: `${CAPACITY}. Too many sandboxes wait for their start.`,
      error_code: 'sandbox_capacity_unavailable',
    })
    const others = create(other, crowded)
    await waitFor('the start of the other team', async () => (await metric(crowded, 'sandyard_starts_waiting')) === 2)
    hold.release()
    expect((await Promise.all([running, waiting, others])).map(({ status }) => status)).toEqual([201, 201, 201])
    expect(await metric(crowded, 'sandyard_starts_refused_total{reason="room"}')).toBe(1)
  })

  it('give their turn to the next one while their daemons and start commands begin', async () => {
    const narrow = await world.startServer({ env: { SANDYARD_START_WIDTH: '1' } })
    world.daemon.answers.push('hang')
    const hanging = create(acme, narrow)
    await waitFor('the hanging daemon', () => world.daemon.answers.length === 0)
    expect((await create(other, narrow)).status).toBe(201)
    expect((await hanging).status).toBe(201)
  })
})
