import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Database } from '@sandyard/db/database'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { createApiMetrics } from '../src/metrics/api-metrics.ts'
import { createWorld, endLease, type Server, type World } from './support/control-plane.ts'

const MIB = 1024 ** 2

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ env: { SANDYARD_METRICS_MAX_SANDBOXES: '2', SANDYARD_MAX_SANDBOXES: '3' } })
})
afterAll(() => world[Symbol.asyncDispose]())
afterEach(async () => {
  for (const { sandboxID } of (await api.call('GET', '/v2/sandboxes')).body) await api.call('DELETE', `/sandboxes/${sandboxID}`)
})

const page = (server: Server = api): Promise<string> => server.ctx.metrics.registry.metrics()

/** The value of one series, written as on the page. */
async function valueOf(series: string, server?: Server): Promise<number | undefined> {
  const line = (await page(server)).split('\n').find((each) => each.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

async function create(body: object = {}): Promise<string> {
  return (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', ...body } })).body.sandboxID
}

async function storeSample(sandboxId: string, secondsAgo = 1): Promise<void> {
  await world.database.db
    .insertInto('sandbox_metric')
    .values({
      sandbox_id: sandboxId,
      team_id: world.teamId,
      sampled_at: sql<Date>`clock_timestamp() - make_interval(secs => ${secondsAgo})`,
      cpu_count: 2,
      cpu_used_pct: 50,
      mem_used: 10 * MIB,
      mem_cache: 1,
      mem_total: 20 * MIB,
      disk_used: 30 * MIB,
      disk_total: 40 * MIB,
    })
    .execute()
}

describe('operations on sandboxes', () => {
  it('are measured with their outcome, and creates with their phases', async () => {
    const id = await create()
    api.runtime.faults.failBefore('create', new Error('no room'))
    expect((await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })).status).toBe(500)
    expect((await api.call('POST', `/sandboxes/${id}/pause`)).status).toBe(204)
    expect((await api.call('POST', `/sandboxes/${id}/resume`, { body: {} })).status).toBe(201)
    expect((await api.call('POST', `/sandboxes/${id}/snapshots`, { body: {} })).status).toBe(201)
    await api.call('DELETE', `/sandboxes/${id}`)
    const count = (operation: string, outcome: string) =>
      valueOf(`sandyard_sandbox_operation_seconds_count{operation="${operation}",outcome="${outcome}"}`)
    expect(await count('create', 'done')).toBe(1)
    expect(await count('create', 'failed')).toBe(1)
    for (const operation of ['pause', 'resume', 'snapshot']) expect([operation, await count(operation, 'done')]).toEqual([operation, 1])
    // The removal goes on behind the answer; the failed create was removed too.
    await expect.poll(() => count('kill', 'done')).toBe(2)
    const phases = ['reserve', 'runtime', 'daemon', 'start_command', 'commit'].map((phase) =>
      valueOf(`sandyard_sandbox_create_phase_seconds_count{phase="${phase}"}`),
    )
    expect(await Promise.all(phases)).toEqual([2, 1, 1, 1, 1])
  })
})

describe('the state of the installation', () => {
  it('says how overdue a sandbox is that no server ends', async () => {
    const id = await create()
    expect(await valueOf('sandyard_sandbox_expiry_lag_seconds')).toBe(0)
    const expires_at = sql<Date>`clock_timestamp() - make_interval(secs => 100)`
    await world.database.db.updateTable('sandbox').set({ expires_at }).where('sandbox_id', '=', id).execute()
    expect(await valueOf('sandyard_sandbox_expiry_lag_seconds')).toBeGreaterThanOrEqual(100)
  })

  it('counts the teams at their limit', async () => {
    await create()
    expect(await valueOf('sandyard_teams_at_sandbox_limit')).toBe(0)
    await create()
    await create()
    expect(await valueOf('sandyard_teams_at_sandbox_limit')).toBe(1)
    expect(await valueOf('sandyard_sandbox_limit')).toBe(3)
  })

  it('counts a server as lost when its lease ends without an order', async () => {
    const other = await world.startServer()
    expect(await valueOf('sandyard_servers{state="ready"}')).toBe(2)
    await endLease(world, other)
    expect(await valueOf('sandyard_servers{state="lost"}')).toBe(1)
    expect(await valueOf('sandyard_servers{state="ready"}')).toBe(1)
  })

  it('names each state of sandboxes, also those that none is in', async () => {
    expect(await valueOf('sandyard_sandboxes{state="snapshotting"}')).toBe(0)
  })

  it('is left out while the database does not answer; the other metrics are served', async () => {
    await using database = new Database({ url: 'postgres://127.0.0.1:1/none', applicationName: 'test', log: silentLogger() })
    const { registry } = createApiMetrics(database, { concurrentSandboxes: 1, maxSandboxes: 1 })
    const text = await registry.metrics()
    expect(text).toContain('sandyard_database_up 0')
    expect(text).not.toMatch(/^sandyard_sandboxes\{/m)
    expect(text).not.toMatch(/^sandyard_sandbox_limit /m)
    expect(text).toContain('sandyard_database_connection_limit 10')
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m)
  })
})

describe('a server', () => {
  it('is ready while its database and its engine answer, and reports the disk of the engine', async () => {
    const server = await world.startServer()
    expect(await valueOf('sandyard_api_ready', server)).toBe(1)
    expect(await valueOf('sandyard_engine_up', server)).toBe(1)
    expect(await valueOf('sandyard_engine_disk_free_bytes', server)).toBeGreaterThan(0)
    expect(await valueOf('sandyard_egress_guard_restarts_total', server)).toBe(0)
    server.ctx.drain.begin()
    expect(await valueOf('sandyard_api_ready', server)).toBe(0)
  })

  it('is not ready while its engine does not answer, and the page is served', async () => {
    const server = await world.startServer()
    server.runtime.faults.failBefore('ping')
    server.runtime.faults.failBefore('vitals')
    const text = await page(server)
    expect(text).toContain('sandyard_engine_up 0')
    expect(text).toContain('sandyard_api_ready 0')
    expect(text).toContain('sandyard_database_up 1')
    expect(text).not.toMatch(/^sandyard_engine_disk_free_bytes /m)
  })
})

describe('series of sandboxes', () => {
  it('exist for those that run the longest, up to the cap, and the others are counted', async () => {
    const ids = [await create(), await create(), await create()]
    for (const id of ids) await storeSample(id)
    const text = await page()
    const named = [...text.matchAll(/^sandyard_sandbox_memory_used_bytes\{sandbox_id="(\w+)",template_id="(\w+)"\} (\d+)$/gm)]
    expect(named.map(([, id, template, bytes]) => [id, template, Number(bytes)])).toEqual(
      ids.slice(0, 2).map((id) => [id, world.templateId, 10 * MIB]),
    )
    expect(text).toContain(`sandyard_sandbox_cpu_used_ratio{sandbox_id="${ids[0]}",template_id="${world.templateId}"} 0.5`)
    expect(text).toContain('sandyard_sandbox_series_omitted 1')
  })

  it('end with the sandbox, and with its samples', async () => {
    const [ended, silent] = [await create(), await create()]
    await storeSample(ended)
    await storeSample(silent, 60)
    await api.call('DELETE', `/sandboxes/${ended}`)
    const text = await page()
    expect(text).not.toContain(ended)
    expect(text).not.toContain(silent)
    expect(text).toContain('sandyard_sandbox_series_omitted 1')
  })

  it('are off unless the setting is set', async () => {
    const server = await world.startServer()
    await storeSample(await create())
    const text = await page(server)
    expect(text).not.toMatch(/^sandyard_sandbox_memory_used_bytes\{/m)
    expect(text).toContain('sandyard_sandbox_series_omitted 1')
  })
})
