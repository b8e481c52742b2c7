import { sql } from 'kysely'
import { readWantedEgress } from '@sandyard/api/read-wanted-egress'
import { AppError } from '@sandyard/kit/errors/app-error'
import { FakeRuntime } from '@sandyard/runtime/fake/fake-runtime'
import { DEFAULT_EGRESS } from '@sandyard/runtime/types'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Fuse, type CrashPoint } from './support/fuse.ts'
import {
  createWorld,
  endLease,
  reconcileNow,
  waitFor,
  type Answer,
  type Server,
  type ServerOptions,
  type World,
} from './support/control-plane.ts'

let world: World
beforeEach(async () => {
  world = await createWorld()
})
afterEach(() => world[Symbol.asyncDispose]())

const POOL = { SANDYARD_POOL_MEMORY: '0.5', SANDYARD_POOL_CPU: '1' }
const startServer = (options: ServerOptions = {}): Promise<Server> => world.startServer({ ...options, env: { ...POOL, ...options.env } })
const create = (api: Server, body: object = {}): Promise<Answer> =>
  api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 600, ...body } })
const rowsOfPool = () => world.database.db.selectFrom('parked_sandbox').selectAll().orderBy('state_changed_at').execute()
const parkedIds = async (): Promise<string[]> => (await rowsOfPool()).filter(({ state }) => state === 'parked').map((row) => row.sandbox_id)
const idsOnEngine = (): string[] => [...world.engine.sandboxes.values()].map(({ spec }) => spec.sandboxId)

/** Runs passes until nothing is missing and nothing waits to be freed. */
async function fill({ ctx }: Server, passes = 6): Promise<void> {
  await waitFor('a pause after the creates', () => ctx.pool.isQuiet)
  for (let pass = 0; pass < passes; pass += 1) {
    await ctx.pool.fill()
    await ctx.pool.settled()
    await ctx.sandboxes.repairs.drain()
  }
}

async function setAll(change: object): Promise<void> {
  await world.database.db.updateTable('parked_sandbox').set(change).execute()
}

/** Another ready build of `base`, which no tag names yet. */
async function addBuild(): Promise<string> {
  const build = await world.database.db.selectFrom('build').selectAll().where('build_id', '=', world.buildId).executeTakeFirstOrThrow()
  const { build_id: buildId } = await world.database.db
    .insertInto('build')
    .values({
      template_id: world.templateId,
      status: 'ready',
      image: 'base:2',
      cpu_count: build.cpu_count,
      memory_mib: build.memory_mib,
      disk_mib: build.disk_mib,
      default_user: 'user',
      default_workdir: '/home/user',
      envd_version: build.envd_version,
    })
    .returning('build_id')
    .executeTakeFirstOrThrow()
  return buildId
}

const GIB = 1024 ** 3
const now = sql<Date>`clock_timestamp()`
const longAgo = sql<Date>`clock_timestamp() - interval '10 minutes'`

describe('a create', () => {
  it('gets a sandbox that waits, with its own variables, token and metadata', async () => {
    const api = await startServer()
    await fill(api)
    const [waiting] = await parkedIds()
    expect(world.daemon.inits).toHaveLength(1)
    expect(world.daemon.inits[0]).toMatchObject({ envVars: {}, accessToken: expect.stringMatching(/^[0-9a-f]{64}$/) })

    const { status, body } = await create(api, { envVars: { A: '1' }, metadata: { m: 'x' }, secure: false })
    expect([status, body.sandboxID]).toEqual([201, waiting])
    expect(api.runtime.faults.calls.filter((call) => call === 'create')).toHaveLength(1)
    expect(world.daemon.inits[0]).not.toHaveProperty('claim')
    expect(world.daemon.inits[1]).toMatchObject({ envVars: { A: '1' }, identity: { sandboxID: waiting }, claim: expect.any(String) })
    expect(world.daemon.inits[1]).not.toHaveProperty('accessToken')
    expect(await rowsOfPool()).toEqual([])
    const { body: detail } = await api.call('GET', `/sandboxes/${waiting}`)
    expect(detail).toMatchObject({ state: 'running', metadata: { m: 'x' } })
    await reconcileNow(api)
    expect(idsOnEngine()).toEqual([waiting])
  })

  it('has its network in force before the variables reach the daemon, and the address where the gateway finds it', async () => {
    const api = await startServer({ capabilities: { egressGateway: '10.0.0.1' } })
    await fill(api)
    const [waiting = ''] = await parkedIds()
    const hold = api.runtime.faults.hold('setEgress')
    const creating = create(api, { network: { allowOut: ['example.com'], denyOut: ['0.0.0.0/0'] }, envVars: { SECRET: '1' } })
    await hold.reached
    expect(world.daemon.inits).toHaveLength(1)
    hold.release()
    expect((await creating).body.sandboxID).toBe(waiting)
    expect(world.engine.sandboxes.values().next().value?.egress).toMatchObject({ allowInternet: false, gateway: 'names' })
    expect(world.daemon.inits[1]).toMatchObject({ envVars: { SECRET: '1' } })
  })

  it('is started cold within the same request when the claimed one does not answer, under the same id', async () => {
    const api = await startServer()
    await fill(api)
    const [waiting = ''] = await parkedIds()
    world.daemon.answers.push(401)
    const { status, body } = await create(api)
    expect([status, body.sandboxID]).toEqual([201, waiting])
    const row = await world.database.db.selectFrom('sandbox').selectAll().executeTakeFirstOrThrow()
    expect(row).toMatchObject({ sandbox_id: waiting, incarnation: 2, state: 'running' })
    await waitFor('the end of the former one', () => world.engine.sandboxes.size === 1)
    expect([...world.engine.sandboxes.values()].map(({ spec }) => spec.incarnation)).toEqual([2])
    await waitFor('its row to go', async () => (await rowsOfPool()).length === 0)
    await reconcileNow(api)
    expect((await api.call('GET', `/sandboxes/${waiting}`)).body).toMatchObject({ state: 'running' })
  })

  it('is started cold when the network of the claimed one cannot be set', async () => {
    const api = await startServer()
    await fill(api)
    api.runtime.faults.failBefore('setEgress')
    const { status } = await create(api, { allow_internet_access: false })
    expect(status).toBe(201)
    const [one] = [...world.engine.sandboxes.values()].filter(({ spec }) => spec.incarnation === 2)
    expect(one?.egress).toMatchObject({ allowInternet: false })
  })

  it('gives a parked sandbox to one of many at once; the others are started cold', async () => {
    const servers = [await startServer(), await startServer()]
    const [first, second] = servers as [Server, Server]
    await world.database.db
      .insertInto('pool_demand')
      .values({ template_id: world.templateId, tag: 'default', slot: now, creates: 2 })
      .execute()
    await fill(first)
    await world.database.db.updateTable('pool_demand').set({ creates: 3 }).execute()
    await fill(second)
    const waiting = await parkedIds()
    expect(waiting).toHaveLength(3)
    const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => create(at % 2 === 0 ? first : second)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201))
    const ids = answers.map(({ body }) => body.sandboxID as string)
    expect(new Set(ids).size).toBe(8)
    expect(ids.filter((id) => waiting.includes(id))).toHaveLength(3)
    expect(await rowsOfPool()).toEqual([])
  })

  it('that is refused or repeated takes none', async () => {
    const api = await startServer({ env: { SANDYARD_MAX_SANDBOXES: '1' } })
    await fill(api)
    const headers = { 'idempotency-key': 'once' }
    const body = { templateID: 'base' }
    const { body: first } = await api.call('POST', '/v2/sandboxes', { body, headers })
    await fill(api)
    expect((await create(api)).status).toBe(429)
    expect((await api.call('POST', '/v2/sandboxes', { body, headers })).body.sandboxID).toBe(first.sandboxID)
    expect(await parkedIds()).toHaveLength(1)
  })

  it('never gets one that has expired, or of another generation', async () => {
    const runtime = (generation: string) => (options: object) => new FakeRuntime({ ...options, generation })
    const api = await startServer({ runtime: runtime('1') })
    await fill(api)
    const [waiting] = await parkedIds()
    const newer = await startServer({ runtime: runtime('2') })
    expect((await create(newer)).body.sandboxID).not.toBe(waiting)
    // It is still that of a live server, so it is left to it.
    await newer.ctx.pool.fill()
    expect(await parkedIds()).toContain(waiting)
    await setAll({ expires_at: longAgo })
    expect((await create(api)).body.sandboxID).not.toBe(waiting)
    await fill(api)
    expect(await parkedIds()).not.toContain(waiting)
    expect(idsOnEngine()).not.toContain(waiting)
  })

  it('never gets one of an older build: the demand moves to the newest build of the tag', async () => {
    const api = await startServer()
    await create(api)
    await fill(api)
    const [old = ''] = await parkedIds()
    const buildId = await addBuild()
    await world.database.db
      .insertInto('tag_assignment')
      .values({ template_id: world.templateId, build_id: buildId, tag: 'default' })
      .execute()
    expect((await create(api)).body.sandboxID).not.toBe(old)
    await fill(api)
    expect((await rowsOfPool()).map((row) => [row.build_id, row.state])).toEqual(expect.arrayContaining([[buildId, 'parked']]))
    expect(idsOnEngine()).not.toContain(old)
  })
})

describe('the pool', () => {
  it('has one sandbox of base, follows the creates of the last minutes, and shrinks after them', async () => {
    const api = await startServer()
    await fill(api)
    expect(await parkedIds()).toHaveLength(1)
    await create(api)
    await api.ctx.pool.fill()
    expect(await world.database.db.selectFrom('pool_demand').select(['template_id', 'tag', 'creates']).execute()).toEqual([
      { template_id: world.templateId, tag: 'default', creates: 1 },
    ])
    await world.database.db.updateTable('pool_demand').set({ creates: 4 }).execute()
    await fill(api)
    expect(await parkedIds()).toHaveLength(4)
    await world.database.db.updateTable('pool_demand').set({ slot: longAgo }).execute()
    await fill(api)
    expect(await parkedIds()).toHaveLength(1)
    expect(world.engine.sandboxes.size).toBe(2)
  })

  it('is in no list, count, metric or log of a team', async () => {
    const api = await startServer({ env: { SANDYARD_MAX_SANDBOXES: '1' } })
    await fill(api)
    const [waiting] = await parkedIds()
    expect((await api.call('GET', '/v2/sandboxes')).body).toEqual([])
    expect((await api.call('GET', `/sandboxes/${waiting}`)).status).toBe(404)
    expect((await api.call('DELETE', `/sandboxes/${waiting}`)).status).toBe(404)
    expect((await api.call('POST', `/sandboxes/${waiting}/pause`)).status).toBe(404)
    expect((await api.call('GET', `/sandboxes/${waiting}/logs`)).body).toMatchObject({ logs: [] })
    const { rows } = await sql`select from event where subject = ${waiting}`.execute(world.database.db)
    expect(rows).toEqual([])
    expect(await parkedIds()).toEqual([waiting])
    expect((await create(api)).status).toBe(201)
  })

  it('is not an orphan of the reconciler, and keeps the default network', async () => {
    const api = await startServer()
    await fill(api)
    const [waiting = ''] = await parkedIds()
    for (const sandbox of world.engine.sandboxes.values()) sandbox.createdAt.setTime(Date.now() - 3_600_000)
    await reconcileNow(api)
    expect(idsOnEngine()).toEqual([waiting])
    expect(await readWantedEgress(world.database.db, [waiting, 'iunknown'])).toEqual(new Map([[waiting, DEFAULT_EGRESS]]))
  })

  it('gives up sandboxes that have ended, by their event or at the next pass of the reconciler', async () => {
    const api = await startServer()
    await fill(api)
    const [waiting = ''] = await parkedIds()
    world.engine.exit('fake', { sandboxId: waiting, incarnation: 1 })
    await reconcileNow(api)
    await api.ctx.sandboxes.repairs.drain()
    await waitFor('its end', () => world.engine.sandboxes.size === 0)
    await waitFor('its row to go', async () => (await rowsOfPool()).length === 0)

    const following = await startServer({ loops: true })
    await waitFor('another one', async () => (await parkedIds()).length === 1)
    const [next = ''] = await parkedIds()
    world.engine.exit('fake', { sandboxId: next, incarnation: 1 })
    await waitFor('its end', async () => !idsOnEngine().includes(next) && !(await parkedIds()).includes(next))
    expect(following.runtime.faults.calls).toContain('remove')
  })

  it('is off with a share of 0, and frees what an earlier configuration has left', async () => {
    const api = await startServer()
    await fill(api)
    await endLease(world, api)
    for (const env of [{ SANDYARD_POOL_MEMORY: '0' }, { SANDYARD_POOL_CPU: '0' }, { SANDYARD_POOL_PER_TEMPLATE: '0' }]) {
      const off = await startServer({ env })
      expect(off.ctx.pool.isOn).toBe(false)
      await create(off)
      await fill(off)
      expect(await rowsOfPool()).toEqual([])
    }
    expect(world.engine.sandboxes.size).toBe(3)
  })

  it('pauses with a template whose sandboxes cannot be started', async () => {
    const api = await startServer()
    api.runtime.faults.failBefore('create', new AppError('internal', 'broken'))
    await api.ctx.pool.fill()
    await api.ctx.pool.settled()
    await fill(api)
    expect(api.runtime.faults.calls.filter((call) => call === 'create')).toHaveLength(1)
    expect(await rowsOfPool()).toEqual([])
    expect(world.engine.sandboxes.size).toBe(0)
  })

  it('goes on when the engine is away during a start and during the undo of it', async () => {
    const api = await startServer()
    api.runtime.faults.failAfter('create')
    api.runtime.faults.failBefore('remove')
    await api.ctx.pool.fill()
    await api.ctx.pool.settled()
    expect(api.runtime.faults.calls.filter((call) => call === 'remove')).toHaveLength(1)
    // The next pass frees what the undo has left.
    expect(await rowsOfPool()).toMatchObject([{ state: 'removing' }])
    await setAll({ state_changed_at: longAgo })
    await fill(api)
    expect(await rowsOfPool()).toEqual([])
    expect((await create(api)).status).toBe(201)
  })

  it('is given up while a create waits for memory, and takes none until the shortage is over', async () => {
    const api = await startServer({ env: { SANDYARD_SHORTAGE_WAIT: '300ms' } })
    await create(api)
    await create(api)
    await fill(api)
    expect(await parkedIds()).not.toEqual([])
    world.engine.memory = { totalBytes: 64 * GIB, availableBytes: GIB }
    await waitFor('the reading of the host', async () => !(await api.ctx.sandboxes.admission.hasRoom(128)))
    const { status, body } = await create(api, { templateID: `base:${await addBuild()}` })
    expect([status, body.error_code]).toEqual([503, 'sandbox_capacity_unavailable'])
    await waitFor('the pool to be empty', async () => (await rowsOfPool()).length === 0 && world.engine.sandboxes.size === 2)
    world.engine.memory = { totalBytes: 64 * GIB, availableBytes: 48 * GIB }
    await fill(api)
    expect(await rowsOfPool()).toEqual([])
    await fill(await startServer())
    expect(await parkedIds()).not.toEqual([])
  })

  it('gives up a sandbox whose start command keeps a processor busy', async () => {
    const api = await startServer()
    await fill(api)
    const [waiting = ''] = await parkedIds()
    await api.ctx.pool.check()
    const used = { memoryBytes: 300 * 1024 ** 2, cpuMicroseconds: 600_000_000, pids: 9 }
    const usage = vi.spyOn(api.runtime, 'usage').mockImplementation(async (refs) => new Map(refs.map((ref) => [ref.sandboxId, used])))
    await api.ctx.pool.check()
    usage.mockRestore()
    await waitFor('its end', () => !idsOnEngine().includes(waiting))
    await fill(api)
    // Its template pauses on this server.
    expect(await rowsOfPool()).toEqual([])
  })

  it('is freed by the last server that stops in order, and left to the others', async () => {
    const [first, second] = [await startServer({ loops: true }), await startServer({ loops: true })]
    await waitFor('the pool', async () => (await parkedIds()).length === 1)
    await first[Symbol.asyncDispose]()
    expect(await parkedIds()).toHaveLength(1)
    await second[Symbol.asyncDispose]()
    expect([await rowsOfPool(), idsOnEngine()]).toEqual([[], []])
  })

  it('survives the kill of a server', async () => {
    const api = await startServer()
    await fill(api)
    const waiting = await parkedIds()
    await api[Symbol.asyncDispose]()
    const next = await startServer()
    await fill(next)
    expect(await parkedIds()).toEqual(waiting)
    expect((await create(next)).body.sandboxID).toBe(waiting[0])
  })
})

describe('a killed server', () => {
  /** Kills a server at each of its steps while it fills the pool, then lets another one clean up. */
  async function killWhileFilling(point: CrashPoint): Promise<boolean> {
    const fuse = new Fuse(point)
    const dying = await startServer({ fuse })
    void dying.ctx.pool.fill()
    await Promise.race([fuse.blown, waitFor('the pool', async () => (await parkedIds()).length === 1)])
    await endLease(world, dying)
    const next = await startServer()
    await sql`update parked_sandbox set state_changed_at = state_changed_at - interval '2 minutes'`.execute(world.database.db)
    for (const sandbox of world.engine.sandboxes.values()) sandbox.createdAt.setTime(Date.now() - 3_600_000)
    await fill(next)
    await reconcileNow(next)
    expect(idsOnEngine().toSorted()).toEqual((await rowsOfPool()).map((row) => row.sandbox_id).toSorted())
    expect(await parkedIds()).toHaveLength(1)
    const { isBlown } = fuse
    for (const id of await parkedIds()) world.engine.drop('fake', { sandboxId: id, incarnation: 1 })
    await world.database.db.deleteFrom('parked_sandbox').execute()
    return isBlown
  }

  it('leaves nothing of a start for the pool, at whatever step it died', async () => {
    let step = 1
    for (let isReached = true; isReached && step < 40; step += 1) {
      for (const when of ['before', 'after'] as const) isReached = await killWhileFilling({ step, when })
    }
    expect(step).toBeGreaterThan(4)
  })

  it('leaves nothing of a claim: the sandbox ends, and is not handed out again', async () => {
    const api = await startServer()
    await fill(api)
    const [waiting = ''] = await parkedIds()
    world.daemon.answers.push('hang')
    void create(api)
    await waitFor('the claim', async () => (await rowsOfPool()).length === 0)
    await endLease(world, api)
    const next = await startServer()
    await reconcileNow(next)
    expect((await next.call('GET', `/sandboxes/${waiting}`)).status).toBe(404)
    await waitFor('its end', () => !idsOnEngine().includes(waiting))
    const history = await world.database.db.selectFrom('sandbox_history').select(['sandbox_id', 'reason']).execute()
    expect(history).toEqual([{ sandbox_id: waiting, reason: 'create_abandoned' }])
  })
})
