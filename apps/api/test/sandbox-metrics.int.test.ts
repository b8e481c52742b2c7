import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { FakeRuntime } from '@sandyard/runtime/fake/fake-runtime'
import { forgetMetrics } from '../src/sandbox-metrics/metric-loops.ts'
import { Sampler } from '../src/sandbox-metrics/sampler.ts'
import { ADMIN_TOKEN, createWorld, waitFor, type Server, type World } from './support/control-plane.ts'
import { startDaemonStub, type DaemonStub } from './support/daemon-stub.ts'

const GIB = 1024 ** 3
const REPORT = {
  ts: 1,
  cpu_count: 2,
  cpu_used_pct: 12.34,
  mem_total: GIB,
  mem_used: 200,
  mem_cache: 300,
  mem_total_mib: 1024,
  mem_used_mib: 0,
  disk_used: 5 * GIB,
  disk_total: 50 * GIB,
}

let world: World
let api: Server
/** The daemon of the sandboxes that are created while `useOther` is set. */
let other: DaemonStub
let useOther = false
beforeAll(async () => {
  world = await createWorld()
  other = await startDaemonStub()
  api = await world.startServer({
    runtime: (options) =>
      new FakeRuntime({ ...options, endpointOf: () => ({ host: '127.0.0.1', daemonPort: useOther ? other.port : world.daemon.port }) }),
  })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await other[Symbol.asyncDispose]()
})
afterEach(async () => {
  useOther = false
  world.daemon.report = () => undefined
  for (const { sandboxID } of (await api.call('GET', '/v2/sandboxes')).body) await api.call('DELETE', `/sandboxes/${sandboxID}`)
})

async function create(): Promise<string> {
  return (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })).body.sandboxID
}

const newSampler = (hasDiskLimit = false): Sampler =>
  new Sampler({ database: world.database, tokenSeed: api.ctx.installation.tokenSeed, hasDiskLimit, log: silentLogger() })

/** Makes the next tick due: the last one was five seconds ago. */
async function passTick(): Promise<void> {
  const value = sql<string>`floor(extract(epoch from clock_timestamp()) * 1000 - 5000)::bigint::text`
  await world.database.db.updateTable('server_setting').set({ value }).where('name', '=', 'sampled_at_ms').execute()
}

async function sample(sampler: Sampler = newSampler()): Promise<void> {
  await passTick()
  await sampler.run(new AbortController().signal)
}

const metricsOf = async (id: string, query = '') => (await api.call('GET', `/sandboxes/${id}/metrics${query}`)).body

/** Stores a sample a number of seconds ago, for a sandbox that need not exist. */
async function store(sandboxId: string, secondsAgo: number, cpu = 1): Promise<void> {
  await world.database.db
    .insertInto('sandbox_metric')
    .values({
      sandbox_id: sandboxId,
      team_id: world.teamId,
      sampled_at: new Date(Date.now() - secondsAgo * 1000),
      cpu_count: 2,
      cpu_used_pct: cpu,
      mem_used: 1,
      mem_cache: 1,
      mem_total: 1,
      disk_used: 1,
      disk_total: 1,
    })
    .execute()
}

async function asOtherTeam(): Promise<Record<string, string>> {
  const { id } = await world.database.db
    .insertInto('team')
    .values({ name: 'Other', slug: 'other', email: 'other@acme.test' })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { 'x-admin-token': ADMIN_TOKEN, 'x-team-id': id }
}

describe('the sampler', () => {
  it('[GET /sandboxes/{sandboxID}/metrics] stores what the daemon reports', async () => {
    const id = await create()
    world.daemon.report = (url) => (url === '/metrics' ? REPORT : undefined)
    const before = Math.floor(Date.now() / 1000)
    await sample()
    const [metric, ...more] = await metricsOf(id)
    expect(more).toEqual([])
    expect(metric).toEqual({
      timestamp: expect.stringMatching(/^\d{4}-.*\.000Z$/),
      timestampUnix: Math.floor(Date.parse(metric.timestamp) / 1000),
      cpuCount: 2,
      cpuUsedPct: 12.34,
      memUsed: 200,
      memTotal: GIB,
      memCache: 300,
      diskUsed: 5 * GIB,
      diskTotal: 50 * GIB,
    })
    expect(metric.timestampUnix).toBeGreaterThanOrEqual(before)
    await sample(newSampler(true))
    expect((await metricsOf(id)).at(-1).diskTotal).toBe(4 * GIB)
  })

  it('reads metrics and logs in one request, and of a daemon of an earlier release in two', async () => {
    const id = await create()
    const urls: string[] = []
    const report = (url: string, metrics: object): object => {
      urls.push(url)
      return url === '/metrics' ? REPORT : { boot: 'a', entries: [], ...metrics }
    }
    world.daemon.report = (url) => report(url, { metrics: { ...REPORT, mem_used: 7 } })
    await sample()
    world.daemon.report = (url) => report(url, {})
    await sample()
    expect(urls).toEqual(['/logs?metrics=true', '/logs?metrics=true', '/metrics'])
    expect((await metricsOf(id)).map(({ memUsed }: { memUsed: number }) => memUsed)).toEqual([7, 200])
  })

  it('keeps its connection to a daemon between visits, while the sandbox runs', async () => {
    useOther = true
    const [id, ended] = [await create(), await create()]
    other.report = () => REPORT
    const before = other.connections.opened
    using sampler = newSampler()
    for (let tick = 0; tick < 3; tick += 1) await sample(sampler)
    expect(await metricsOf(id)).toHaveLength(3)
    expect(other.connections.opened).toBe(before + 2)
    const openBefore = other.connections.open
    await api.call('DELETE', `/sandboxes/${ended}`)
    await waitFor('one connection less', async () => {
      await sample(sampler)
      return other.connections.open === openBefore - 1
    })
    sampler[Symbol.dispose]()
    await waitFor('no connection of the sampler', () => other.connections.open === openBefore - 2)
  })

  it('samples the others while some sandboxes hang', async () => {
    useOther = true
    const hanging = await Promise.all(Array.from({ length: 4 }, create))
    useOther = false
    const id = await create()
    other.report = () => 'hang'
    world.daemon.report = () => REPORT
    const sampler = newSampler()
    await sample(sampler)
    await sample(sampler)
    expect(await metricsOf(id)).toHaveLength(2)
    for (const silent of hanging) expect(await metricsOf(silent)).toEqual([])
    other.report = () => REPORT
    await sample(sampler)
    for (const silent of hanging) expect(await metricsOf(silent)).toHaveLength(1)
  })

  it.each<[string, object]>([
    ['no object', []],
    ['a missing value', { ...REPORT, mem_used: undefined }],
    ['a negative size', { ...REPORT, disk_used: -1 }],
    ['a size beyond the safe integers', { ...REPORT, disk_total: 1e300 }],
    ['a text', { ...REPORT, cpu_used_pct: '1' }],
  ])('stores nothing of a report with %s', async (_, report) => {
    const id = await create()
    world.daemon.report = () => report
    await sample()
    expect(await metricsOf(id)).toEqual([])
  })

  it('stores 200 log entries of a sandbox in a tick, and continues after them', async () => {
    const id = await create()
    const entries = Array.from({ length: 250 }, (_, index) => ({ n: index + 1, at: Date.now(), message: `entry ${index + 1}`, fields: {} }))
    world.daemon.report = (url) => {
      if (url === '/metrics') return REPORT
      const after = Number(new URL(url, 'http://x').searchParams.get('after'))
      return { boot: 'a', entries: entries.filter(({ n }) => n > after) }
    }
    const stored = async (): Promise<string[]> => {
      const { body } = await api.call('GET', `/v2/sandboxes/${id}/logs?direction=forward&search=entry`)
      return body.logs.map(({ message }: { message: string }) => message)
    }
    await sample()
    expect(await stored()).toEqual(entries.slice(0, 200).map(({ message }) => message))
    await sample()
    expect(await stored()).toEqual(entries.map(({ message }) => message))
    await sample()
    expect(await stored()).toHaveLength(250)
  })

  it('runs once in a tick, however many servers run it', async () => {
    const id = await create()
    world.daemon.report = () => REPORT
    await passTick()
    const samplers = Array.from({ length: 5 }, () => newSampler())
    await Promise.all(samplers.map((sampler) => sampler.run(new AbortController().signal)))
    const slots = (await metricsOf(id)).map(({ timestampUnix }: { timestampUnix: number }) => Math.floor(timestampUnix / 5))
    expect(slots.length).toBeGreaterThanOrEqual(1)
    expect(slots).toEqual([...new Set(slots)])
  })

  it('runs with the loops of a server', async () => {
    await using looping = await world.startServer({ loops: true })
    world.daemon.report = () => REPORT
    const { sandboxID: id } = (await looping.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })).body
    await waitFor('two samples', async () => (await metricsOf(id)).length >= 2)
  })
})

describe('[GET /sandboxes/{sandboxID}/metrics]', () => {
  it('returns what was recorded of a paused and of an ended sandbox', async () => {
    const id = await create()
    await store(id, 10)
    await sql`
      update sandbox set state = 'paused', pause_handle = '{}', pause_keep = 'memory', paused_at = now() where sandbox_id = ${id}
    `.execute(world.database.db)
    expect(await metricsOf(id)).toHaveLength(1)
    await sql`update sandbox set state = 'running' where sandbox_id = ${id}`.execute(world.database.db)
    await api.call('DELETE', `/sandboxes/${id}`)
    expect(await metricsOf(id)).toHaveLength(1)
    expect(await metricsOf(`${id}-6532622b`)).toHaveLength(1)
  })

  it('returns a part of the range', async () => {
    for (const ago of [300, 200, 100]) await store('irange', ago, ago / 10)
    const now = Math.floor(Date.now() / 1000)
    const cpu = async (query: string) => (await metricsOf('irange', query)).map(({ cpuUsedPct }: { cpuUsedPct: number }) => cpuUsedPct)
    expect(await cpu('')).toEqual([30, 20, 10])
    expect(await cpu(`?start=${now - 250}`)).toEqual([20, 10])
    expect(await cpu(`?end=${now - 150}`)).toEqual([30, 20])
    expect(await cpu(`?start=${now - 250}&end=${now - 150}`)).toEqual([20])
    expect(await cpu(`?start=0&end=${now + 1000}`)).toEqual([30, 20, 10])
    expect(await cpu(`?start=${now}`)).toEqual([])
    expect(await cpu(`?end=0`)).toEqual([])
    const [first] = await metricsOf('irange')
    expect(await cpu(`?start=${first.timestampUnix}&end=${first.timestampUnix}`)).toEqual([30])
  })

  it('returns a long range in fewer points', async () => {
    const rows = sql`
      insert into sandbox_metric select 'ilong', ${world.teamId}::uuid, at, 2, 50, 100, 100, 200, 100, 200
      from generate_series(clock_timestamp() - interval '30 hours', clock_timestamp(), interval '30 seconds') as at
    `
    await rows.execute(world.database.db)
    const points = await metricsOf('ilong')
    expect(points.length).toBeGreaterThanOrEqual(360)
    expect(points.length).toBeLessThanOrEqual(362)
    expect(points[5]).toMatchObject({ cpuCount: 2, cpuUsedPct: 50, memUsed: 100, memTotal: 200, diskUsed: 100, diskTotal: 200 })
    const times = points.map(({ timestampUnix }: { timestampUnix: number }) => timestampUnix)
    expect(times).toEqual(times.toSorted((a: number, b: number) => a - b))
    expect((await metricsOf('ilong', `?start=${Math.floor(Date.now() / 1000) - 1800}`)).length).toBeGreaterThanOrEqual(59)
  })

  it.each(['?start=2&end=1', '?start=999999999999', '?end=9223372036854775807'])('refuses the range %s', async (query) => {
    expect(await metricsOf('irange', query)).toEqual({ code: 400, message: 'Invalid time range for metrics' })
  })

  it('refuses what is no time and what is no id', async () => {
    for (const query of ['?start=x', '?start=-1', '?end=1.5']) {
      expect((await metricsOf('irange', query)).message, query).toMatch(/^validation error/)
    }
    expect(await metricsOf('i-a-b')).toEqual({ code: 400, message: 'Invalid sandbox ID' })
  })

  it('returns nothing of an unknown sandbox and of another team', async () => {
    await store('iteam', 10)
    expect(await metricsOf('iunknown')).toEqual([])
    const headers = await asOtherTeam()
    expect((await api.call('GET', '/sandboxes/iteam/metrics', { apiKey: null, headers })).body).toEqual([])
    expect((await api.call('GET', '/sandboxes/metrics?sandbox_ids=iteam', { apiKey: null, headers })).body).toEqual({ sandboxes: {} })
    expect(await metricsOf('iteam')).toHaveLength(1)
  })
})

describe('[GET /sandboxes/metrics]', () => {
  const list = (ids: string) => api.call('GET', `/sandboxes/metrics?sandbox_ids=${ids}`)

  it('returns the latest sample of each known sandbox', async () => {
    for (const [id, ago, cpu] of [
      ['ia', 20, 1],
      ['ia', 10, 2],
      ['ib', 30, 3],
    ] as const)
      await store(id, ago, cpu)
    const { status, body } = await list('ia,ib,iunknown,%00,')
    expect(status).toBe(200)
    expect(Object.keys(body.sandboxes).sort()).toEqual(['ia', 'ib'])
    expect(body.sandboxes.ia).toMatchObject({ cpuUsedPct: 2, cpuCount: 2 })
    expect(body.sandboxes.ib).toMatchObject({ cpuUsedPct: 3 })
  })

  it('refuses more than 100 ids, repeated ids and no ids', async () => {
    const ids = (count: number) => Array.from({ length: count }, (_, index) => `i${index}`).join(',')
    expect((await list(ids(100))).status).toBe(200)
    expect((await list(ids(101))).body).toEqual({ code: 400, message: 'Too many sandboxes requested, maximum is 100' })
    expect((await list('ia,ia')).body).toEqual({ code: 400, message: 'validation error: sandbox_ids must be unique' })
    expect((await api.call('GET', '/sandboxes/metrics')).body.message).toMatch(/^validation error/)
  })
})

it('deletes samples of ended sandboxes after a week and keeps those of existing ones', async () => {
  const DAY = 24 * 3600
  const [alive, ended] = [await create(), await create()]
  await api.call('DELETE', `/sandboxes/${ended}`)
  await waitFor('the end of the sandbox', async () => {
    const { db } = world.database
    return (await db.selectFrom('sandbox').select('sandbox_id').where('sandbox_id', '=', ended).execute()).length === 0
  })
  for (const id of [alive, ended, 'igone']) await store(id, 8 * DAY)
  await store('irecent', 6 * DAY)
  const count = async () => Promise.all([alive, ended, 'igone', 'irecent'].map(async (id) => (await metricsOf(id)).length))
  expect(await count()).toEqual([1, 1, 1, 1])
  const { retention } = api.ctx.config
  await forgetMetrics({ database: world.database, retention })
  expect(await count()).toEqual([1, 1, 0, 1])
  await sql`update sandbox_history set ended_at = now() - interval '8 days' where sandbox_id = ${ended}`.execute(world.database.db)
  await forgetMetrics({ database: world.database, retention })
  expect(await count()).toEqual([1, 0, 0, 1])
})
