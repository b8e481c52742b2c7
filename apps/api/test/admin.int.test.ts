import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asAdmin } from './support/admin-calls.ts'
import { addCaller, type Caller } from './support/build-callers.ts'
import { findBuild, findJob, queueBuild, registerBuild, waitForEnd } from './support/builds.ts'
import { createWorld, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
let admin: ReturnType<typeof asAdmin>

beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
  admin = asAdmin(api)
})
afterAll(() => world[Symbol.asyncDispose]())

const create = async (caller: Caller): Promise<string> =>
  (await caller.withKey('POST', '/v2/sandboxes', { templateID: 'base' })).body.sandboxID
const idsOf = async (caller: Caller): Promise<string[]> =>
  (await caller.withKey('GET', '/v2/sandboxes')).body.map(({ sandboxID }: { sandboxID: string }) => sandboxID)
const kill = (teamId: string): Promise<Answer> => admin('POST', `/admin/teams/${teamId}/sandboxes/kill`)
const cancel = (teamId: string): Promise<Answer> => admin('POST', `/admin/teams/${teamId}/builds/cancel`)

describe('the kill of all sandboxes of a team', () => {
  it('ends those that run, and neither paused ones nor those of others [POST /admin/teams/{teamID}/sandboxes/kill]', async () => {
    const [mine, others] = [await addCaller(world, api, 'Killed'), await addCaller(world, api, 'Spared')]
    const ids = [await create(mine), await create(mine), await create(mine)]
    const paused = await create(mine)
    await mine.withKey('POST', `/sandboxes/${paused}/pause`)
    const spared = await create(others)
    const { status, body } = await kill(mine.teamId)
    expect([status, body]).toEqual([200, { killedCount: 3, failedCount: 0 }])
    for (const id of ids) expect((await mine.withKey('GET', `/sandboxes/${id}`)).status).toBe(404)
    expect([await idsOf(mine), await idsOf(others)]).toEqual([[paused], [spared]])
    expect((await kill(mine.teamId)).body).toEqual({ killedCount: 0, failedCount: 0 })
    const rows = await world.database.db.selectFrom('event').select('data').where('kind', '=', 'sandbox.killing').execute()
    expect(rows.map(({ data }) => (data as { actor?: unknown }).actor)).toEqual([0, 1, 2].map(() => ({ kind: 'admin' })))
  })

  it('is whole when two administrators ask at the same time', async () => {
    const caller = await addCaller(world, api, 'Twice')
    await Promise.all(Array.from({ length: 10 }, () => create(caller)))
    const answers = await Promise.all([kill(caller.teamId), kill(caller.teamId)])
    const killed = answers.map(({ body }) => body.killedCount as number)
    expect(Math.max(...killed)).toBeLessThanOrEqual(10)
    expect(killed.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(10)
    expect(answers.map(({ body }) => body.failedCount)).toEqual([0, 0])
    expect(await idsOf(caller)).toEqual([])
  })

  it('ends more sandboxes than a page has', async () => {
    const caller = await addCaller(world, api, 'Many')
    const first = await create(caller)
    const { db } = world.database
    const row = await db.selectFrom('sandbox').selectAll().where('sandbox_id', '=', first).executeTakeFirstOrThrow()
    const asText = {
      metadata: JSON.stringify(row.metadata),
      network: JSON.stringify(row.network),
      volume_mounts: '[]',
      iam: '{}',
      pause_handle: null,
      mcp: null,
    }
    const ids = Array.from({ length: 250 }, (_, n) => `many${String(n).padStart(16, '0')}`)
    await db
      .insertInto('sandbox')
      .values(ids.map((id) => ({ ...row, ...asText, sandbox_id: id })))
      .execute()
    expect((await kill(caller.teamId)).body).toEqual({ killedCount: 251, failedCount: 0 })
    expect(await idsOf(caller)).toEqual([])
  })
})

describe('the counts of running sandboxes', () => {
  it('are those of each team that has any, remembered for a moment [GET /admin/sandboxes/running-counts]', async () => {
    const [one, none] = [await addCaller(world, api, 'Counted'), await addCaller(world, api, 'Uncounted')]
    await create(one)
    await create(one)
    const paused = await create(one)
    await one.withKey('POST', `/sandboxes/${paused}/pause`)
    const fresh = await world.startServer()
    const { status, body } = await asAdmin(fresh)('GET', '/admin/sandboxes/running-counts')
    expect([status, body[one.teamId], none.teamId in body]).toEqual([200, 2, false])
    await create(one)
    await waitFor('a fresh count', async () => (await asAdmin(fresh)('GET', '/admin/sandboxes/running-counts')).body[one.teamId] === 3)
  })
})

describe('the cancel of the builds of a team', () => {
  it('ends registered and queued builds, and none of others [POST /admin/teams/{teamID}/builds/cancel]', async () => {
    const [mine, others] = [await addCaller(world, api, 'Builders'), await addCaller(world, api, 'Strangers')]
    const register = async (caller: Caller, name: string) => (await caller.withKey('POST', '/v3/templates', { name })).body
    const [first, second, other] = [await register(mine, 'one'), await register(mine, 'two'), await register(others, 'one')]
    await mine.withKey('POST', `/v2/templates/${second.templateID}/builds/${second.buildID}`, { fromImage: 'debian' })
    expect([(await cancel(mine.teamId)).body, (await cancel(mine.teamId)).body]).toEqual([
      { cancelledCount: 2, failedCount: 0 },
      { cancelledCount: 0, failedCount: 0 },
    ])
    for (const { templateID, buildID } of [first, second]) {
      const { body } = await mine.withKey('GET', `/templates/${templateID}/builds/${buildID}/status`)
      expect([body.status, body.reason.message]).toEqual(['error', 'cancelled by admin'])
      expect(await findJob(world, buildID)).toBeUndefined()
    }
    expect((await findBuild(world, other.buildID)).status).toBe('waiting')
  })

  it('stops a running build', async () => {
    const started = Promise.withResolvers<void>()
    const running = await world.startServer({
      loops: true,
      buildRunner: (_job, signal) =>
        new Promise((_resolve, reject) => {
          started.resolve()
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        }),
    })
    const buildId = await queueBuild(world)
    await started.promise
    expect((await asAdmin(running)('POST', `/admin/teams/${world.teamId}/builds/cancel`)).body).toEqual({
      cancelledCount: 1,
      failedCount: 0,
    })
    const { status, reason_message: message } = await waitForEnd(world, buildId)
    expect([status, message]).toEqual(['failed', 'cancelled by admin'])
    await running[Symbol.asyncDispose]()
  })

  it('ends more builds than a page has', async () => {
    for (let n = 0; n < 220; n += 1) await registerBuild(world)
    expect((await cancel(world.teamId)).body).toEqual({ cancelledCount: 220, failedCount: 0 })
  })
})

it.each(['sandboxes/kill', 'builds/cancel'])('%s refuses unknown teams and other callers', async (action) => {
  expect((await admin('POST', `/admin/teams/${randomUUID()}/${action}`)).body).toEqual({ code: 404, message: 'Team not found' })
  expect((await admin('POST', `/admin/teams/mine/${action}`)).body).toEqual({ code: 400, message: 'Invalid team ID' })
  expect((await api.call('POST', `/admin/teams/${world.teamId}/${action}`)).status).toBe(401)
})
