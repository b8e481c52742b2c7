import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase } from '@sandyard/test-kit/postgres'
import { startPostgresServer, type PostgresServer } from '@sandyard/test-kit/postgres-server'
import { createWorld, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'

let postgres: PostgresServer
let world: World
let api: Server
beforeAll(async () => {
  // Its own server, because the one of the other tests must go on.
  postgres = await startPostgresServer()
  world = await createWorld(await createTestDatabase(postgres.url))
  api = await world.startServer({ loops: true, env: { SANDYARD_SECRETS_KEY: '5a'.repeat(32) } })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

const GONE = { code: 503, message: 'The database cannot be reached: try again' }

const create = (headers: Record<string, string> = {}): Promise<Answer> =>
  api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 600 }, headers })
const isReady = async (): Promise<boolean> => (await api.call('GET', '/ready', { apiKey: null })).status === 200
const metrics = (): Promise<string> => api.ctx.metrics.registry.metrics()

it('answers 503 while the database is away, and serves again without a restart when it is back', async () => {
  const { body: made } = await create()
  expect(await isReady()).toBe(true)
  expect(await metrics()).toContain('sandyard_database_up 1')
  const held = api.runtime.faults.hold('create')
  const starting = create()
  await held.reached

  await postgres.stop()
  expect(await api.call('GET', `/sandboxes/${made.sandboxID}`)).toMatchObject({ status: 503, body: GONE, headers: { 'retry-after': '1' } })
  // What a lost connection has done is not known: only a request with a key is repeated.
  expect(await create()).toMatchObject({ status: 503, body: GONE, headers: { 'should-retry': 'false' } })
  expect((await create({ 'idempotency-key': 'k1' })).headers).not.toHaveProperty('should-retry')
  expect((await api.call('DELETE', `/sandboxes/${made.sandboxID}`)).body).toEqual(GONE)
  const secret = await api.call('POST', '/secrets', { body: { name: 'n', value: 'v' } })
  // No server that hears of no changes remembers a credential, so this is the look-up of the key.
  expect(secret).toMatchObject({ status: 503, body: GONE, headers: { 'should-retry': 'false' } })
  // Its credential is in no cache.
  expect((await api.call('GET', '/v2/sandboxes', { apiKey: `e2b_${'1'.repeat(40)}` })).body).toEqual(GONE)
  held.release()
  expect(await starting).toMatchObject({ status: 503, body: GONE, headers: { 'should-retry': 'false' } })
  expect((await api.call('GET', '/health', { apiKey: null })).status).toBe(200)
  await waitFor('readiness to end', async () => !(await isReady()))
  expect((await api.call('GET', '/ready', { apiKey: null })).body).toMatchObject({ ready: false, database: false, runtime: true })
  const page = await metrics()
  expect(page).toContain('sandyard_database_up 0')
  expect(page).toContain('sandyard_api_request_seconds_count{operation="createSandboxV2",status="503"}')
  expect(page).not.toContain('sandyard_sandboxes{')

  await postgres.start()
  await waitFor('readiness', isReady)
  expect((await api.call('GET', `/sandboxes/${made.sandboxID}`)).body.state).toBe('running')
  expect(await metrics()).toContain('sandyard_sandboxes{state="running"} 1')
  // A start needs the lease of this server.
  await waitFor('a create', async () => (await create({ 'idempotency-key': 'k1' })).status === 201)
  // The start that was cut off could not be undone: the reconciler of its server does it, before it counts as abandoned.
  await world.database.db
    .updateTable('sandbox')
    .set({ state_changed_at: new Date(Date.now() - 40_000) })
    .where('state', '=', 'starting')
    .execute()
  await waitFor('the end of that start', async () => {
    const { body } = await api.call('GET', '/v2/sandboxes')
    return body.length === 2 && world.engine.sandboxes.size === 2
  })
})

it('settles what the outage has interrupted, without the wait for abandoned transitions', async () => {
  const ids: string[] = []
  for (let made = 0; made < 3; made += 1) ids.push((await create()).body.sandboxID)
  const [pausing = '', resuming = '', snapshotting = ''] = ids
  expect((await api.call('POST', `/sandboxes/${resuming}/pause`)).status).toBe(204)
  const holds = (['pause', 'resume', 'snapshot'] as const).map((point) => api.runtime.faults.hold(point))
  const answers = [
    api.call('POST', `/sandboxes/${pausing}/pause`),
    api.call('POST', `/sandboxes/${resuming}/connect`, { body: { timeout: 600 } }),
    api.call('POST', `/sandboxes/${snapshotting}/snapshots`),
  ]
  for (const { reached } of holds) await reached
  await postgres.stop()
  for (const hold of holds) hold.release()
  for (const { status } of await Promise.all(answers)) expect(status).toBeGreaterThanOrEqual(500)

  await postgres.start()
  await waitFor('readiness', isReady)
  const stateOf = async (id: string): Promise<string> => (await api.call('GET', `/sandboxes/${id}`)).body.state
  const rows = () => world.database.db.selectFrom('sandbox').select('state').where('sandbox_id', 'in', ids).execute()
  await waitFor('the end of the transitions', async () => (await rows()).every(({ state }) => state === 'running' || state === 'paused'))
  expect(await stateOf(pausing)).toBe('running')
  expect(await stateOf(resuming)).toBe('paused')
  expect(await stateOf(snapshotting)).toBe('running')
  for (const id of ids)
    expect((await api.call('POST', `/sandboxes/${id}/connect`, { body: { timeout: 600 } })).status).toBeOneOf([200, 201])
})

it('hears notifications again after the outage', async () => {
  expect((await api.call('GET', '/v2/sandboxes')).status).toBe(200)
  await world.database.db.deleteFrom('api_key').execute()
  await waitFor('the refusal', async () => (await api.call('GET', '/v2/sandboxes')).status === 401)
})
