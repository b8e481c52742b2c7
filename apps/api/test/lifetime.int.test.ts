import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from 'kysely'
import { createWorld, reconcileNow, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
})
afterAll(() => world[Symbol.asyncDispose]())

async function create(timeout: number): Promise<string> {
  const { body } = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout } })
  return body.sandboxID
}

/** The sandbox expires so many seconds after a moment between `since` and now, however slow the machine is. */
async function expectSecondsLeft(id: string, seconds: number, since: number): Promise<void> {
  const { body } = await api.call('GET', `/sandboxes/${id}`)
  const from = Date.parse(body.endAt) - seconds * 1000
  // Postgres rounds to milliseconds.
  expect(from).toBeGreaterThanOrEqual(since - 1)
  expect(from).toBeLessThanOrEqual(Date.now() + 1)
}

const setState = (id: string, state: 'running' | 'killing' | 'pausing' | 'snapshotting' | 'paused'): Promise<unknown> =>
  world.database.db.updateTable('sandbox').set({ state }).where('sandbox_id', '=', id).execute()

describe('[POST /sandboxes/{sandboxID}/timeout] [POST /sandboxes/{sandboxID}/refreshes] [POST /sandboxes/{sandboxID}/connect] the end time', () => {
  it.each<[string, string, object, number]>([
    ['timeout lengthens', 'timeout', { timeout: 600 }, 600],
    ['timeout shortens', 'timeout', { timeout: 100 }, 100],
    ['timeout is truncated to the longest lifetime', 'timeout', { timeout: 200_000 }, 86_400],
    ['refreshes lengthens', 'refreshes', { duration: 600 }, 600],
    ['refreshes never shortens', 'refreshes', { duration: 20 }, 300],
    ['refreshes without a duration succeeds', 'refreshes', {}, 300],
    ['connect lengthens', 'connect', { timeout: 600 }, 600],
    ['connect never shortens', 'connect', { timeout: 20 }, 300],
    ['connect with zero changes nothing', 'connect', { timeout: 0 }, 300],
  ])('%s', async (_name, action, body, seconds) => {
    const since = Date.now()
    const id = await create(300)
    const answer = await api.call('POST', `/sandboxes/${id}/${action}`, { body })
    expect(answer.status).toBe(action === 'connect' ? 200 : 204)
    if (action !== 'connect') expect(answer.text).toBe('')
    await expectSecondsLeft(id, seconds, since)
  })

  it('[POST /v2/sandboxes/{sandboxID}/connect] is extended by a v2 connect without a body', async () => {
    const since = Date.now()
    const id = await create(100)
    const answer = await api.call('POST', `/v2/sandboxes/${id}/connect`)
    expect(answer).toMatchObject({ status: 200, body: { sandboxID: id, clientID: '6532622b', domain: 'localhost:3002' } })
    expect(answer.body.envdAccessToken).toMatch(/^[0-9a-f]{64}$/)
    await expectSecondsLeft(id, 300, since)
  })

  it('cannot exceed the longest lifetime', async () => {
    const id = await create(300)
    const old = sql<Date>`clock_timestamp() - interval '25 hours'`
    await world.database.db.updateTable('sandbox').set({ started_at: old }).where('sandbox_id', '=', id).execute()
    expect((await api.call('POST', `/sandboxes/${id}/timeout`, { body: { timeout: 60 } })).body).toEqual({
      code: 400,
      message: 'Max instance length exceeded',
    })
    await api.call('DELETE', `/sandboxes/${id}`)
  })
})

describe('requests in other states', () => {
  const actions = ['timeout', 'refreshes', 'connect']

  it('return the unchanged id of an unknown sandbox', async () => {
    for (const given of ['i0unknown', 'i0unknown-6532622b']) {
      const message = `Sandbox "${given}" doesn't exist or you don't have access to it`
      for (const action of actions) {
        const answer = await api.call('POST', `/sandboxes/${given}/${action}`, { body: { timeout: 1 } })
        expect(answer.body, action).toEqual({ code: 404, message })
      }
      expect((await api.call('DELETE', `/sandboxes/${given}`)).body).toEqual({ code: 404, message })
      expect((await api.call('GET', `/sandboxes/${given}`)).body).toEqual({ code: 404, message })
    }
  })

  it('report the running transition', async () => {
    const id = await create(300)
    const status = async (action: string) => {
      const { body } = await api.call('POST', `/sandboxes/${id}/${action}`, { body: { timeout: 1 } })
      return [body.code, body.message]
    }
    await setState(id, 'killing')
    for (const action of actions) expect(await status(action)).toEqual([409, `Sandbox "${id}" is being killed`])
    expect((await api.call('GET', `/sandboxes/${id}`)).status).toBe(404)
    await setState(id, 'pausing')
    expect(await status('timeout')).toEqual([409, `Sandbox "${id}" is being paused`])
    expect((await api.call('GET', `/sandboxes/${id}`)).body.state).toBe('paused')
    await setState(id, 'snapshotting')
    expect(await status('refreshes')).toEqual([409, `Sandbox "${id}" is being snapshotted`])
    expect((await api.call('GET', `/sandboxes/${id}`)).body.state).toBe('running')
    await setState(id, 'running')
  })

  it('accept ids with the suffix of older clients', async () => {
    const id = await create(300)
    expect((await api.call('GET', `/sandboxes/${id}-6532622b`)).body.sandboxID).toBe(id)
    expect((await api.call('DELETE', `/sandboxes/${id}-6532622b`)).status).toBe(204)
  })

  it('check the limit of a connect before the sandbox', async () => {
    const answer = await api.call('POST', '/sandboxes/i0unknown/connect', { body: { timeout: 86_401 } })
    expect(answer.body).toEqual({ code: 400, message: 'Timeout cannot be greater than 24 hours' })
  })

  it("never reach another team's sandbox", async () => {
    const id = await create(300)
    const headers = { 'x-admin-token': 'admin-secret', 'x-team-id': await insertTeam() }
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/connect'],
      ['POST', '/timeout'],
      ['POST', '/refreshes'],
    ] as const) {
      const answer = await api.call(method, `/sandboxes/${id}${path}`, {
        apiKey: null,
        headers,
        ...(method === 'POST' && { body: { timeout: 1 } }),
      })
      expect(answer.status, path).toBe(404)
    }
  })
})

async function insertTeam(): Promise<string> {
  const row = await world.database.db
    .insertInto('team')
    .values({ name: 'Other', slug: 'other', email: 'other@acme.test' })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

describe('[DELETE /sandboxes/{sandboxID}] a kill', () => {
  it('runs once for concurrent requests', async () => {
    const id = await create(300)
    const hold = api.runtime.faults.hold('remove')
    const kill = (): Promise<Answer> => api.call('DELETE', `/sandboxes/${id}`)
    const [first, second] = (await Promise.all([kill(), kill()])).map(({ status }) => status).toSorted((one, other) => one - other)
    expect(first).toBe(204)
    // One that arrives after the transaction of the other finds nothing.
    expect([204, 404]).toContain(second)
    await hold.reached
    // It is gone for its team, although the engine has not removed it yet.
    expect((await kill()).status).toBe(404)
    expect((await api.call('POST', `/sandboxes/${id}/connect`, { body: { timeout: 60 } })).status).toBe(404)
    hold.release()
    await waitFor('the removal', () => ![...world.engine.sandboxes.values()].some(({ spec }) => spec.sandboxId === id))
  })

  it('leaves the sandbox unreachable if the engine fails, and the reconciler removes it', async () => {
    const id = await create(300)
    api.runtime.faults.failBefore('remove')
    expect((await api.call('DELETE', `/sandboxes/${id}`)).status).toBe(204)
    expect((await api.call('GET', `/sandboxes/${id}`)).status).toBe(404)
    await api.ctx.sandboxes.repairs.drain()
    await world.database.db
      .updateTable('sandbox')
      .set({ state_changed_at: sql<Date>`state_changed_at - interval '1 minute'` })
      .execute()
    await reconcileNow(api)
    await waitFor('the removal of the container', () => ![...world.engine.sandboxes.values()].some(({ spec }) => spec.sandboxId === id))
  })
})
