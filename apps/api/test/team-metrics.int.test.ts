import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { claimTick, ensureTicks } from '../src/sandbox-metrics/claim-tick.ts'
import { forgetMetrics } from '../src/sandbox-metrics/metric-loops.ts'
import { createWorld, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
  await ensureTicks(world.database)
})
afterAll(() => world[Symbol.asyncDispose]())

async function createSandbox(): Promise<string> {
  return (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })).body.sandboxID
}

/** Claims a tick, whose predecessor was a number of seconds ago. */
async function tick(secondsAgo: number): Promise<Date | undefined> {
  const value = sql<string>`floor(extract(epoch from clock_timestamp()) * 1000 - ${secondsAgo * 1000})::bigint::text`
  await world.database.db.updateTable('server_setting').set({ value }).where('name', '=', 'sampled_at_ms').execute()
  return claimTick(world.database)
}

/** Moves all events into the past, so that the next tick counts them. */
const ageEvents = () => sql`update event set created_at = created_at - interval '3 seconds'`.execute(world.database.db)

const read = (path: string) => api.call('GET', `/teams/${world.teamId}/metrics${path}`)

async function store(secondsAgo: number, concurrent: number, started: number): Promise<void> {
  const sampled_at = new Date(Date.now() - secondsAgo * 1000)
  await world.database.db.insertInto('team_metric').values({ team_id: world.teamId, sampled_at, concurrent, started }).execute()
}

describe('the ticks', () => {
  beforeEach(() => world.database.db.deleteFrom('team_metric').execute())
  afterEach(() => world.database.db.deleteFrom('team_metric').execute())

  it('count sandboxes and starts, and fall to zero', async () => {
    const ids = [await createSandbox(), await createSandbox()]
    await ageEvents()
    const first = await tick(10)
    for (const id of ids) await api.call('DELETE', `/sandboxes/${id}`)
    // The tick before is exactly the first one.
    await sql`update server_setting set value = ${String(first?.getTime())} where name = 'sampled_at_ms'`.execute(world.database.db)
    await sql`update team_metric set sampled_at = sampled_at - interval '10 seconds'`.execute(world.database.db)
    await sql`update server_setting set value = (value::bigint - 10000)::text where name = 'sampled_at_ms'`.execute(world.database.db)
    await sql`delete from event`.execute(world.database.db)
    await claimTick(world.database)
    const rows = await world.database.db.selectFrom('team_metric').select(['concurrent', 'started']).orderBy('sampled_at').execute()
    expect(rows).toEqual([
      { concurrent: 2, started: 2 },
      { concurrent: 0, started: 0 },
    ])
    await tick(10)
    expect(await world.database.db.selectFrom('team_metric').select('concurrent').execute()).toHaveLength(2)
  })

  it('are claimed once', async () => {
    await tick(10)
    const value = sql<string>`floor(extract(epoch from clock_timestamp()) * 1000 - 5000)::bigint::text`
    await world.database.db.updateTable('server_setting').set({ value }).where('name', '=', 'sampled_at_ms').execute()
    const claims = (await Promise.all(Array.from({ length: 10 }, () => claimTick(world.database)))).filter((at) => at !== undefined)
    const slots = claims.map((at) => Math.floor(at.getTime() / 5000))
    expect(claims.length).toBeGreaterThanOrEqual(1)
    expect(slots).toEqual([...new Set(slots)])
  })
})

describe('[GET /teams/{teamID}/metrics]', () => {
  beforeAll(async () => {
    await world.database.db.deleteFrom('team_metric').execute()
    for (const [ago, concurrent, started] of [
      [60, 3, 10],
      [50, 5, 0],
      [40, 4, 1],
      [9 * 24 * 3600, 50, 100],
    ] as const) {
      await store(ago, concurrent, started)
    }
  })

  it('returns the points of a range', async () => {
    const now = Math.floor(Date.now() / 1000)
    const { status, body } = await read(`?start=${now - 3000}`)
    expect(status).toBe(200)
    expect(body.map((point: Record<string, unknown>) => [point['concurrentSandboxes'], point['sandboxStartRate']])).toEqual([
      [3, 2],
      [5, 0],
      [4, 0.2],
    ])
    expect(body[0]).toMatchObject({
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      timestampUnix: Math.floor(Date.parse(body[0].timestamp) / 1000),
    })
    expect((await read(`?start=${now - 3000}&end=${now - 2000}`)).body).toEqual([])
  })

  it('returns wider points for a longer range, and seven days by default', async () => {
    const { body } = await read('')
    expect(body.length).toBeLessThanOrEqual(2)
    expect(Math.max(...body.map((point: Record<string, number>) => point['concurrentSandboxes']))).toBe(5)
    expect((await read('?start=0')).body.length).toBe(body.length + 1)
  })

  it.each([
    ['?start=2&end=1', 'start time cannot be after end time'],
    ['?start=99999999999', 'start time cannot be after end time'],
    ['?end=999999999999', 'start and end time must be before the year 10000'],
    ['?end=9007199254740991', 'start and end time must be before the year 10000'],
    ['?start=999999999999', 'start and end time must be before the year 10000'],
  ])('refuses the range %s', async (query, message) => {
    expect((await read(query)).body).toEqual({ code: 400, message })
    const separator = query === '' ? '?' : '&'
    expect((await read(`/max${query}${separator}metric=concurrent_sandboxes`)).body).toEqual({ code: 400, message })
  })

  it('refuses the metrics of another team', async () => {
    for (const path of ['metrics', 'metrics/max?metric=sandbox_start_rate']) {
      const { body } = await api.call('GET', `/teams/other/${path}`)
      expect(body).toEqual({ code: 403, message: `You (${world.teamId}) are not authorized to access this team's (other) metrics` })
    }
  })
})

describe('[GET /teams/{teamID}/metrics/max]', () => {
  it('returns the highest value and when it was', async () => {
    const value = async (query: string) => (await read(`/max?${query}`)).body
    const concurrent = await value('metric=concurrent_sandboxes')
    expect(concurrent).toEqual({
      timestamp: expect.any(String),
      timestampUnix: Math.floor(Date.parse(concurrent.timestamp) / 1000),
      value: 5,
    })
    expect((await value('metric=sandbox_start_rate')).value).toBe(2)
    expect((await value('metric=concurrent_sandboxes&start=0')).value).toBe(50)
    expect(await value('metric=concurrent_sandboxes&start=100&end=200')).toEqual({
      timestamp: '1970-01-01T00:03:20.000Z',
      timestampUnix: 200,
      value: 0,
    })
  })

  it.each(['', '?metric=cpu'])('refuses the query "%s"', async (query) => {
    expect(await read(`/max${query}`)).toMatchObject({ status: 400, body: { message: expect.stringMatching(/^validation error/) } })
  })
})

it('deletes the metrics of a team after 30 days', async () => {
  await store(29 * 24 * 3600, 70, 0)
  await store(31 * 24 * 3600, 80, 0)
  await forgetMetrics({ database: world.database, retention: api.ctx.config.retention })
  expect((await read('/max?metric=concurrent_sandboxes&start=0')).body.value).toBe(70)
})

describe('[GET /teams]', () => {
  const list = (token: string | undefined = world.credentials.accessToken) =>
    api.call('GET', '/teams', { apiKey: null, headers: { authorization: `Bearer ${token}` } })

  it('returns every team of the user, each with a new key that works', async () => {
    const { id } = await world.database.db
      .insertInto('team')
      .values({ name: 'Second', slug: 'second', email: 'second@acme.test' })
      .returning('id')
      .executeTakeFirstOrThrow()
    await world.database.db.insertInto('team_member').values({ team_id: id, user_id: world.userId, is_default: false }).execute()
    const [first, again] = [await list(), await list()]
    expect(first.status).toBe(200)
    expect(first.headers['cache-control']).toBe('no-store')
    expect(first.body).toEqual([
      { teamID: world.teamId, name: 'Acme', apiKey: expect.stringMatching(/^e2b_[0-9a-f]{40}$/), isDefault: true },
      { teamID: id, name: 'Second', apiKey: expect.stringMatching(/^e2b_[0-9a-f]{40}$/), isDefault: false },
    ])
    expect(again.body[0].apiKey).not.toBe(first.body[0].apiKey)
    for (const { apiKey, teamID } of [...first.body, ...again.body]) {
      expect((await api.call('GET', `/teams/${teamID}/metrics?end=1`, { apiKey })).status).toBe(200)
    }
    const keys = await world.database.db.selectFrom('api_key').select('name').where('name', '=', 'CLI login/configure').execute()
    expect(keys).toHaveLength(4)
  })

  it('needs the token of a user', async () => {
    expect((await api.call('GET', '/teams')).status).toBe(401)
    expect((await list(`sk_e2b_${'0'.repeat(40)}`)).status).toBe(401)
  })

  it('leaves out banned teams', async () => {
    await world.database.db.updateTable('team').set({ is_banned: true }).where('slug', '=', 'second').execute()
    expect((await list()).body.map(({ name }: { name: string }) => name)).toEqual(['Acme'])
  })
})
