import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asAdmin } from './support/admin-calls.ts'
import { findBuild, findJob, queueBuild, waitForEnd } from './support/builds.ts'
import { createWorld, endLease, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'
import type { BuildRunner } from '../src/builds/build-runner.ts'

let world: World
beforeEach(async () => {
  world = await createWorld()
})
afterEach(() => world[Symbol.asyncDispose]())

const idOf = (server: Server): string => String(server.ctx.sandboxes.serverId)
const create = (server: Server, headers: Record<string, string> = {}): Promise<Answer> =>
  server.call('POST', '/v2/sandboxes', { body: { templateID: 'base' }, headers })
const order = (through: Server, node: Server, status: string): Promise<Answer> =>
  asAdmin(through)('POST', `/nodes/${idOf(node)}`, { status })
const find = async (through: Server, node: Server): Promise<Answer['body']> => (await asAdmin(through)('GET', `/nodes/${idOf(node)}`)).body

const NO_ROOM = {
  code: 503,
  message: 'Failed to place sandbox: not enough capacity for the requested resources right now, please retry shortly',
  error_code: 'sandbox_capacity_unavailable',
}
const RETRY = { 'should-retry': 'true', 'retry-after': '1' }

describe('nodes', () => {
  it('are the servers, with figures of their host and of what runs on them [GET /nodes] [GET /nodes/{nodeID}]', async () => {
    const [one, two] = [await world.startServer(), await world.startServer()]
    for (const server of [one, one, two]) expect((await create(server)).status).toBe(201)
    world.engine.disk = { sizeBytes: 1000, freeBytes: 400 }
    world.engine.memory = { totalBytes: 5000, availableBytes: 3000 }
    await waitFor('the figures', async () => {
      const { metrics, createSuccesses } = await find(two, one)
      return metrics.memoryTotalBytes === 5000 && createSuccesses === 2
    })
    const { status, body } = await asAdmin(two)('GET', '/nodes')
    expect([status, body.map(({ id }: { id: string }) => id)]).toEqual([200, [idOf(one), idOf(two)].toSorted()])
    const node = body.find(({ id }: { id: string }) => id === idOf(one))
    expect(node).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      commit: expect.stringMatching(/^(unknown|[0-9a-f]{40})$/),
      id: idOf(one),
      serviceInstanceID: expect.stringMatching(/^[0-9a-f-]{36}$/),
      clusterID: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      machineInfo: {
        cpuFamily: expect.any(String),
        cpuModel: expect.any(String),
        cpuModelName: expect.any(String),
        cpuArchitecture: expect.stringMatching(/^\w+$/),
      },
      status: 'ready',
      statusChangedAt: expect.stringMatching(/Z$/),
      sandboxCount: 2,
      metrics: {
        allocatedCPU: 4,
        cpuPercent: expect.any(Number),
        cpuCount: world.engine.host.processors,
        allocatedMemoryBytes: 2 * 1024 ** 3,
        memoryUsedBytes: 2000,
        memoryTotalBytes: 5000,
        hugePagesTotal: expect.any(Number),
        hugePagesUsed: expect.any(Number),
        hugePagesReserved: expect.any(Number),
        hugePageSizeBytes: expect.any(Number),
        disks: [{ mountPoint: '/', device: 'unknown', filesystemType: 'unknown', usedBytes: 600, totalBytes: 1000 }],
      },
      createSuccesses: 2,
      createFails: 0,
      sandboxStartingCount: 0,
    })
    expect(node.metrics.cpuCount).toBeGreaterThan(0)
    const { sandboxStartingCount: _, ...detail } = await find(one, one)
    expect({ ...detail, metrics: 0 }).toEqual({ ...node, metrics: 0, sandboxStartingCount: undefined })
    expect('sandboxStartingCount' in (await find(one, one))).toBe(false)
  })

  it('of another cluster are none', async () => {
    const api = await world.startServer()
    const admin = asAdmin(api)
    const [{ id, clusterID }] = (await admin('GET', '/nodes')).body
    expect((await admin('GET', `/nodes?clusterID=${clusterID}`)).body).toHaveLength(1)
    expect((await admin('GET', `/nodes?clusterID=${randomUUID()}`)).body).toEqual([])
    expect((await admin('GET', '/nodes?clusterID=mine')).status).toBe(400)
    expect((await admin('GET', `/nodes/${id}?clusterID=${clusterID.toUpperCase()}`)).status).toBe(200)
    const absent = [
      await admin('GET', `/nodes/${id}?clusterID=${randomUUID()}`),
      await admin('POST', `/nodes/${id}`, { status: 'draining', clusterID: randomUUID() }),
    ]
    expect(absent.map(({ status, text }) => [status, text])).toEqual([
      [404, ''],
      [404, ''],
    ])
    expect((await create(api)).status).toBe(201)
  })

  it('that do not exist are a 404 without a body [POST /nodes/{nodeID}]', async () => {
    const admin = asAdmin(await world.startServer())
    for (const id of ['1', '0', 'node', '2147483648', '99999999999', '%00', '-1']) {
      const answers = [await admin('GET', `/nodes/${id}`), await admin('POST', `/nodes/${id}`, { status: 'ready' })]
      expect([id, answers.map(({ status, text }) => [status, text])]).toEqual([
        id,
        [
          [404, ''],
          [404, ''],
        ],
      ])
    }
  })

  it('refuse statuses that cannot be ordered, and the orders of others', async () => {
    const api = await world.startServer()
    for (const status of ['connecting', 'unhealthy']) {
      expect((await order(api, api, status)).body).toEqual({
        code: 409,
        message: `A node cannot be made ${status}: use ready, draining or standby`,
      })
    }
    expect((await order(api, api, 'gone')).status).toBe(400)
    expect((await asAdmin(api)('POST', `/nodes/${idOf(api)}`, {})).status).toBe(400)
    expect((await api.call('POST', `/nodes/${idOf(api)}`, { body: { status: 'draining' } })).status).toBe(401)
    expect((await find(api, api)).status).toBe('ready')
  })

  it('of an earlier release take no orders, because they would not follow them', async () => {
    const api = await world.startServer()
    await sql`
      insert into server (server_id, engine_id, version, lease_until)
      values (77, ${api.ctx.engineId}, '0.1.0', clock_timestamp() + interval '1 minute')
    `.execute(world.database.db)
    const admin = asAdmin(api)
    expect((await admin('GET', '/nodes/77')).body).toMatchObject({
      id: '77',
      version: '0.1.0',
      commit: 'unknown',
      status: 'ready',
      serviceInstanceID: '00000000-0000-0000-0000-000000000000',
      metrics: { memoryUsedBytes: 0, disks: [] },
    })
    expect((await admin('POST', '/nodes/77', { status: 'draining' })).body).toEqual({
      code: 409,
      message: 'The node 77 runs an earlier release, which takes no orders',
    })
    expect((await admin('GET', '/nodes/77')).body.status).toBe('ready')
  })

  it('whose lease has ended are unhealthy, take no orders, and their sandboxes count at the oldest one', async () => {
    const [dead, oldest] = [await world.startServer(), await world.startServer()]
    await world.startServer()
    expect((await create(dead)).status).toBe(201)
    await endLease(world, dead)
    const node = await find(oldest, dead)
    expect([node.status, node.sandboxCount]).toEqual(['unhealthy', 0])
    expect((await find(oldest, oldest)).sandboxCount).toBe(1)
    expect((await order(oldest, dead, 'ready')).body).toMatchObject({ code: 409 })
  })

  it('that shut down are draining, and take no orders', async () => {
    const [stopping, api] = [await world.startServer(), await world.startServer()]
    stopping.ctx.drain.begin()
    await waitFor('the status', async () => (await find(api, stopping)).status === 'draining')
    expect((await order(api, stopping, 'ready')).body).toEqual({ code: 409, message: `The node ${idOf(stopping)} shuts down` })
  })
})

describe('a node that drains', () => {
  it.each(['draining', 'standby'])('as %s starts no sandbox, at once, and serves those that run', async (status) => {
    const [api, other] = [await world.startServer(), await world.startServer()]
    const running = (await create(api)).body.sandboxID
    const paused = (await create(api)).body.sandboxID
    await api.call('POST', `/sandboxes/${paused}/pause`, { body: { memory: false } })
    const before = (await find(api, api)).statusChangedAt as string
    expect((await order(api, api, status)).status).toBe(204)
    const node = await find(other, api)
    expect([node.status, node.statusChangedAt > before]).toEqual([status, true])
    const refused = [
      await create(api),
      await create(api, { 'idempotency-key': 'again' }),
      await api.call('POST', `/sandboxes/${paused}/resume`, { body: {} }),
      await api.call('POST', `/sandboxes/${paused}/connect`, { body: { timeout: 60 } }),
      await api.call('POST', `/sandboxes/${running}/fork`, { body: { count: 1 } }),
    ]
    for (const { body, headers } of refused) expect([body, headers]).toEqual([NO_ROOM, expect.objectContaining(RETRY)])
    const states = await world.database.db.selectFrom('sandbox').select('state').orderBy('state').execute()
    expect(states).toEqual([{ state: 'paused' }, { state: 'running' }])
    expect((await api.call('POST', `/sandboxes/${running}/connect`, { body: { timeout: 60 } })).status).toBe(200)
    expect([(await create(other)).status, (await create(other, { 'idempotency-key': 'again' })).status]).toEqual([201, 201])
    expect((await order(api, api, 'ready')).status).toBe(204)
    expect([(await create(api)).status, (await api.call('POST', `/sandboxes/${paused}/resume`, { body: {} })).status]).toEqual([201, 201])
  })

  it('still gives the stored answer to a repeated create, and runs a sandbox again that stands still', async () => {
    const api = await world.startServer()
    const key = { 'idempotency-key': 'same' }
    const { sandboxID } = (await create(api, key)).body
    await api.call('POST', `/sandboxes/${sandboxID}/pause`)
    await order(api, api, 'draining')
    expect((await create(api, key)).body.sandboxID).toBe(sandboxID)
    expect((await api.call('POST', `/sandboxes/${sandboxID}/resume`, { body: {} })).status).toBe(201)
  })

  it('hears of the order that another server was given, and keeps it', async () => {
    const api = await world.startServer()
    const node = await world.startServer({ loops: true })
    expect((await order(api, node, 'draining')).status).toBe(204)
    await waitFor('the order', async () => (await create(node)).status === 503)
    await world.database.db.deleteFrom('server').where('server_id', '=', node.ctx.sandboxes.serverId).execute()
    await waitFor('the row', async () => (await asAdmin(api)('GET', `/nodes/${idOf(node)}`)).status === 200)
    expect([(await find(api, node)).status, (await create(node)).status]).toEqual(['draining', 503])
    await order(api, node, 'ready')
    await waitFor('the order', async () => (await create(node)).status === 201)
  })

  it('hears of the order by its heartbeat when the notification is lost', async () => {
    const node = await world.startServer()
    const row = world.database.db.updateTable('server').where('server_id', '=', node.ctx.sandboxes.serverId)
    await row.set({ wanted_status: 'draining', status_changed_at: sql<Date>`clock_timestamp()` }).execute()
    await waitFor('the order', async () => (await create(node)).status === 503)
  })
})

describe('the builds of a node', () => {
  /** A runner of builds: an endless one runs until its signal aborts, the other one finishes at once. */
  function runner(isEndless: boolean): { run: BuildRunner; started: Promise<void>; count: () => number } {
    const started = Promise.withResolvers<void>()
    let count = 0
    const run: BuildRunner = async ({ buildId }, signal) => {
      count += 1
      started.resolve()
      if (isEndless) await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
      return { image: `built:${buildId}`, defaultUser: 'user', defaultWorkdir: '/home/user', env: {} }
    }
    return { run, started: started.promise, count: () => count }
  }

  it('move to another one when it drains', async () => {
    const [endless, quick] = [runner(true), runner(false)]
    const node = await world.startServer({ loops: true, buildRunner: endless.run })
    const buildId = await queueBuild(world)
    await endless.started
    const other = await world.startServer({ loops: true, buildRunner: quick.run })
    await order(other, node, 'draining')
    expect((await waitForEnd(world, buildId)).status).toBe('uploaded')
    expect([endless.count(), quick.count()]).toEqual([1, 1])
  })

  it('wait for a node when none takes them, and continue when it does again', async () => {
    const endless = runner(true)
    const node = await world.startServer({ loops: true, buildRunner: endless.run })
    const buildId = await queueBuild(world)
    await endless.started
    await order(node, node, 'draining')
    await waitFor('the release', async () => (await findJob(world, buildId))?.server_id === null)
    expect((await findBuild(world, buildId)).status).toBe('building')
    expect(endless.count()).toBe(1)
    await order(node, node, 'ready')
    await waitFor('the next attempt', () => endless.count() === 2)
  })

  it('run on when it is on standby, and no further ones begin', async () => {
    const [endless, quick] = [runner(true), runner(false)]
    const node = await world.startServer({ loops: true, buildRunner: endless.run, env: { SANDYARD_BUILD_WIDTH: '2' } })
    const first = await queueBuild(world)
    await endless.started
    await order(node, node, 'standby')
    const second = await queueBuild(world)
    await world.startServer({ loops: true, buildRunner: quick.run })
    expect((await waitForEnd(world, second)).status).toBe('uploaded')
    expect((await findJob(world, first))?.server_id).toBe(node.ctx.sandboxes.serverId)
    expect(endless.count()).toBe(1)
  })
})
