import { sql } from 'kysely'
import { FakeEngine } from '@sandyard/runtime/fake/fake-engine'
import { FakeRuntime } from '@sandyard/runtime/fake/fake-runtime'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { reapExpired } from '../src/sandboxes/repair/expiry-reaper.ts'
import { Repairs } from '../src/sandboxes/repair/repairs.ts'
import { createWorld, endLease, reconcileNow, waitFor, type Server, type World } from './support/control-plane.ts'

let world: World
beforeEach(async () => {
  world = await createWorld()
})
afterEach(() => world[Symbol.asyncDispose]())

const NEW = { templateID: 'base', timeout: 600 }
const create = (api: Server) => api.call('POST', '/v2/sandboxes', { body: NEW })
const stateOf = async (id: string): Promise<string | undefined> =>
  (await world.database.db.selectFrom('sandbox').select('state').where('sandbox_id', '=', id).executeTakeFirst())?.state

describe('the engine of a database', () => {
  const other = new FakeEngine()
  const onOther = { runtime: () => new FakeRuntime({ engine: other }) }

  it('is stored by the first server, also after an upgrade', async () => {
    const api = await world.startServer()
    expect(api.ctx.engineId).toBe(world.engine.id)
    await world.database.db.deleteFrom('server_setting').where('name', '=', 'engine_id').execute()
    expect((await world.startServer()).ctx.engineId).toBe(world.engine.id)
    const row = await world.database.db.selectFrom('server_setting').select('value').where('name', '=', 'engine_id').executeTakeFirst()
    expect(row?.value).toBe(world.engine.id)
  })

  it('cannot change silently: a server with another engine refuses to start, and nothing is lost', async () => {
    const api = await world.startServer()
    const { body } = await create(api)
    const refused = world.startServer(onOther)
    await expect(refused).rejects.toThrow(`SANDYARD_ADOPT_ENGINE=${other.id}`)
    await expect(refused).rejects.toMatchObject({ kind: 'failed_precondition' })
    expect((await api.call('GET', `/sandboxes/${body.sandboxID}`)).status).toBe(200)
    expect((await create(api)).status).toBe(201)
  })

  it('is changed by a setting of one start, which ends the sandboxes of the former engine', async () => {
    const adopt = { ...onOther, env: { SANDYARD_ADOPT_ENGINE: other.id } }
    const former = await world.startServer()
    const { body } = await create(former)
    await expect(world.startServer(adopt)).rejects.toThrow('A server still runs with the former engine')
    expect(await stateOf(body.sandboxID)).toBe('running')
    await former[Symbol.asyncDispose]()

    const moved = await world.startServer(adopt)
    expect((await moved.call('GET', `/sandboxes/${body.sandboxID}`)).status).toBe(404)
    await world.database.db
      .updateTable('sandbox')
      .set({ state_changed_at: sql<Date>`state_changed_at - interval '1 minute'` })
      .execute()
    await reconcileNow(moved)
    const history = await world.database.db.selectFrom('sandbox_history').select('reason').execute()
    expect(history).toEqual([{ reason: 'engine_moved' }])
    await expect(world.startServer()).rejects.toThrow(`SANDYARD_ADOPT_ENGINE=${world.engine.id}`)
    await world.startServer(onOther)
  })
})

describe('a server that was not stopped before the installation was moved', () => {
  async function move(): Promise<void> {
    await world.database.db.updateTable('server_setting').set({ value: 'another' }).where('name', '=', 'engine_id').execute()
  }

  it('ends no sandbox of the new engine', async () => {
    const api = await world.startServer()
    const { body } = await create(api)
    // As if it ran on the new engine only, and its end time were over.
    world.engine.sandboxes.clear()
    await world.database.db
      .updateTable('sandbox')
      .set({ expires_at: sql<Date>`clock_timestamp() - interval '1 second'` })
      .execute()
    await move()
    const { ctx } = api
    await expect(reconcileNow(api)).rejects.toMatchObject({ kind: 'failed_precondition' })
    const repairs = new Repairs(ctx.log.sandboxes)
    await reapExpired({ ...ctx.sandboxes, repairs, engineId: ctx.engineId })
    await repairs.drain()
    expect(await stateOf(body.sandboxID)).toBe('running')
  })

  it('stops its loops and refuses requests at the next heartbeat', async () => {
    const api = await world.startServer({ loops: true })
    await move()
    await waitFor('the refusal', async () => (await create(api)).status === 503)
    expect((await api.call('GET', '/health')).status).toBe(503)
    const rows = () => world.database.db.selectFrom('server').select('server_id').execute()
    await waitFor('the end of its loops', async () => (await rows()).length === 0)
  })
})

describe('the lease of a server', () => {
  it('is stored in the table of servers while the server runs', async () => {
    const api = await world.startServer()
    const rows = () => world.database.db.selectFrom('server').selectAll().execute()
    expect(await rows()).toMatchObject([{ server_id: api.ctx.sandboxes.serverId, engine_id: world.engine.id, is_draining: false }])
    await api[Symbol.asyncDispose]()
    expect(await rows()).toEqual([])
  })

  it('is required for a create: without it the server does not answer 201 and leaves nothing', async () => {
    const api = await world.startServer()
    const hold = api.runtime.faults.hold('create')
    const creating = create(api)
    await hold.reached
    await endLease(world, api)
    hold.release()
    expect(await creating).toMatchObject({ status: 500, body: { error_code: 'sandbox_create_failed' } })
    expect(world.engine.sandboxes.size).toBe(0)
    expect(await world.database.db.selectFrom('sandbox').select('sandbox_id').execute()).toEqual([])
  })

  it('survives a lost connection of the listener: a create in flight succeeds', async () => {
    const [api, other] = [await world.startServer({ loops: true }), await world.startServer()]
    const hold = api.runtime.faults.hold('create')
    const creating = create(api)
    await hold.reached
    const listeners = sql<{ pid: number }>`
      select pid from pg_stat_activity where application_name = 'sandyard-api-listen' and datname = current_database()
    `
    const [former] = (await listeners.execute(world.database.db)).rows
    await sql`select pg_terminate_backend(${former?.pid}::int)`.execute(world.database.db)
    await waitFor('the break', async () => (await listeners.execute(world.database.db)).rows.every(({ pid }) => pid !== former?.pid))
    // Longer ago than the former grace time of the listener.
    await world.database.db
      .updateTable('sandbox')
      .set({ state_changed_at: sql<Date>`state_changed_at - interval '1 minute'` })
      .execute()
    await reconcileNow(other)
    hold.release()
    expect((await creating).status).toBe(201)
  })
})

/** An engine whose next lists are empty, like one that has just started. */
class ForgetfulRuntime extends FakeRuntime {
  blanks = 0
  lists = 0

  override async list() {
    this.lists += 1
    if (this.blanks === 0) return super.list()
    this.blanks -= 1
    return []
  }
}

describe('a loss of many sandboxes at once', () => {
  async function openForgetful(count: number) {
    const runtime = new ForgetfulRuntime({ engine: world.engine, endpointOf: () => ({ host: '127.0.0.1', daemonPort: world.daemon.port }) })
    const api = await world.startServer({ runtime: () => runtime })
    const ids = []
    for (let made = 0; made < count; made += 1) ids.push((await create(api)).body.sandboxID as string)
    return { api, runtime, ids }
  }

  it('is checked again before anything is removed', async () => {
    const { api, runtime, ids } = await openForgetful(6)
    runtime.blanks = 1
    await reconcileNow(api, { secondLookMs: 1 })
    expect(runtime.lists).toBe(2)
    for (const id of ids) expect(await stateOf(id)).toBe('running')
    runtime.blanks = 2
    await reconcileNow(api, { secondLookMs: 1 })
    for (const id of ids) expect(await stateOf(id)).toBeUndefined()
  })

  it('is ignored if another engine answers', async () => {
    const { api, runtime, ids } = await openForgetful(6)
    runtime.blanks = 10
    runtime.engineId = async () => 'another'
    await expect(reconcileNow(api, { secondLookMs: 1 })).rejects.toThrow('another engine answers')
    for (const id of ids) expect(await stateOf(id)).toBe('running')
  })

  it('is accepted at once for a few sandboxes', async () => {
    const { api, runtime, ids } = await openForgetful(2)
    runtime.blanks = 1
    await reconcileNow(api)
    expect(runtime.lists).toBe(1)
    for (const id of ids) expect(await stateOf(id)).toBeUndefined()
  })
})
