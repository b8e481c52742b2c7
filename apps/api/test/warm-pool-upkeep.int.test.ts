import { sql } from 'kysely'
import type { Usage } from '@sandyard/runtime/types'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createWorld, reconcileNow, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'
import { insertBuild } from './support/templates.ts'

let world: World
beforeEach(async () => {
  world = await createWorld()
})
afterEach(() => world[Symbol.asyncDispose]())

const MIB = 1024 ** 2
const GIB = 1024 * MIB
const POOL = { SANDYARD_POOL_MEMORY: '0.5', SANDYARD_POOL_CPU: '1' }
const startServer = (env: Record<string, string> = {}, loops = false): Promise<Server> =>
  world.startServer({ loops, env: { ...POOL, ...env } })
const create = (api: Server, body: object = {}): Promise<Answer> =>
  api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 600, ...body } })
const rowsOfPool = () => world.database.db.selectFrom('parked_sandbox').selectAll().orderBy('sandbox_id').execute()
const parkedIds = async (): Promise<string[]> => (await rowsOfPool()).filter(({ state }) => state === 'parked').map((row) => row.sandbox_id)

/** Other ones after each write. */
const versions = async (): Promise<unknown> =>
  (await sql`select xmin::text, memory_mib from parked_sandbox`.execute(world.database.db)).rows

/** Runs passes until nothing is missing and nothing waits to be freed. */
async function fill({ ctx }: Server): Promise<void> {
  await waitFor('a pause after the creates', () => ctx.pool.isQuiet)
  for (let pass = 0; pass < 12; pass += 1) {
    await ctx.pool.fill()
    await ctx.pool.settled()
    await ctx.sandboxes.repairs.drain()
  }
}

/** As if so many of `base` had been created at once. */
async function want(creates: number): Promise<void> {
  const now = sql<Date>`clock_timestamp()`
  await world.database.db.insertInto('pool_demand').values({ template_id: world.templateId, tag: 'default', slot: now, creates }).execute()
}

/** What each sandbox that waits has used at the next readings. */
function use({ runtime }: Server, usage: Partial<Usage>): void {
  const used = { memoryBytes: 20 * MIB, cpuMicroseconds: 1000, pids: 2, ...usage }
  vi.spyOn(runtime, 'usage').mockImplementation(async (refs) => new Map(refs.map(({ sandboxId }) => [sandboxId, used])))
}

describe('what waits', () => {
  it('stays when the starts of others of its build fail', async () => {
    const api = await startServer()
    await fill(api)
    const waiting = await parkedIds()
    expect(waiting).toHaveLength(1)
    await want(3)
    for (const _ of [1, 2]) api.runtime.faults.failBefore('create')
    await api.ctx.pool.fill()
    await api.ctx.pool.settled()
    await api.ctx.pool.fill()
    expect(await parkedIds()).toEqual(waiting)
  })

  it('stays after a create has waited for memory, but for what was given up then', async () => {
    const api = await startServer({ SANDYARD_SHORTAGE_WAIT: '20s' })
    await want(10)
    await fill(api)
    expect(await parkedIds()).toHaveLength(10)
    world.engine.memory = { totalBytes: 64 * GIB, availableBytes: GIB }
    await waitFor('the reading of the host', async () => !(await api.ctx.sandboxes.admission.hasRoom(128)))
    api.ctx.sandboxes.admission.onShortage(() => {
      world.engine.memory = { totalBytes: 64 * GIB, availableBytes: 48 * GIB }
    })
    const buildId = await insertBuild(world, world.templateId, { tags: [] })
    expect((await create(api, { templateID: `base:${buildId}` })).status).toBe(201)
    await fill(api)
    const left = (await parkedIds()).length
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThan(10)
  })

  it('is left to the live server that has started it, whatever the settings of another one', async () => {
    const first = await startServer()
    await want(4)
    await fill(first)
    const waiting = await parkedIds()
    expect(waiting).toHaveLength(4)
    for (const env of [{ SANDYARD_POOL_PER_TEMPLATE: '2' }, { SANDYARD_POOL_MEMORY: '0' }]) await fill(await startServer(env))
    expect(await parkedIds()).toEqual(waiting)
  })

  it('is replaced when this server would start it in another way now', async () => {
    const api = await startServer()
    await fill(api)
    const [waiting] = await parkedIds()
    vi.spyOn(api.runtime, 'generation').mockReturnValue('another')
    await fill(api)
    const ids = await parkedIds()
    expect(ids).toHaveLength(1)
    expect(ids).not.toContain(waiting)
    expect((await create(api)).body.sandboxID).toBe(ids[0])
  })

  it('counts for an eighth of its limit while it uses less, so that nothing is written while it idles', async () => {
    const api = await startServer()
    await fill(api)
    const rows = async (): Promise<unknown> =>
      (await sql`select xmin::text, memory_mib from parked_sandbox`.execute(world.database.db)).rows
    const before = await rows()
    expect(before).toMatchObject([{ memory_mib: 128 }])
    for (const mib of [20, 21]) {
      use(api, { memoryBytes: mib * MIB })
      await api.ctx.pool.check()
    }
    expect(await versions()).toEqual(before)
  })

  it('is not written again while it uses the same, and a claim in flight is not waited for', async () => {
    const api = await startServer()
    await fill(api)
    use(api, { memoryBytes: 300 * MIB })
    await api.ctx.pool.check()
    const before = await versions()
    expect(before).toMatchObject([{ memory_mib: 300 }])
    await api.ctx.pool.check()
    expect(await versions()).toEqual(before)
    use(api, { memoryBytes: 200 * MIB })
    await world.database.transaction(async (tx) => {
      await tx.selectFrom('parked_sandbox').select('sandbox_id').forUpdate().execute()
      await api.ctx.pool.check()
    })
    expect(await versions()).toEqual(before)
  })
})

describe('the bounds of the pool', () => {
  it('are shares of the host of the engine, which may be another one than that of the server', async () => {
    world.engine.host = { processors: 2, memoryBytes: 2 * GIB }
    await want(100)
    const api = await startServer({ SANDYARD_POOL_PER_TEMPLATE: '100' })
    const holds = [api.runtime.faults.hold('create'), api.runtime.faults.hold('create')]
    await api.ctx.pool.fill()
    await Promise.all(holds.map(({ reached }) => reached))
    expect(await rowsOfPool()).toHaveLength(2)
    for (const hold of holds) hold.release()
    await fill(api)
    // An eighth of the limit of each, in half of the memory.
    expect(await parkedIds()).toHaveLength(8)
  })
})

describe('a build', () => {
  it('whose sandboxes use more than the pool has is not started again and again', async () => {
    const api = await startServer()
    await fill(api)
    use(api, { memoryBytes: world.engine.host.memoryBytes })
    await api.ctx.pool.check()
    await fill(api)
    expect(await rowsOfPool()).toEqual([])
    expect(api.runtime.faults.calls.filter((call) => call === 'create')).toHaveLength(1)
  })

  it('whose sandboxes do not idle pauses on every server that has seen it', async () => {
    const servers = [await startServer(), await startServer()]
    const [first, second] = servers as [Server, Server]
    await fill(first)
    for (const api of servers) {
      use(api, {})
      await api.ctx.pool.check()
    }
    use(first, { cpuMicroseconds: 600_000_000 })
    // Both have seen it when one of them gives it up.
    const [reached, given] = [Promise.withResolvers<void>(), Promise.withResolvers<Map<string, Usage>>()]
    const read = vi.spyOn(second.runtime, 'usage').mockImplementation(() => {
      reached.resolve()
      return given.promise
    })
    const checking = second.ctx.pool.check()
    await reached.promise
    await first.ctx.pool.check()
    await waitFor('the removal of its row', async () => (await rowsOfPool()).length === 0)
    given.resolve(await first.runtime.usage(read.mock.calls.at(-1)?.[0] ?? []))
    await checking
    for (const { ctx } of servers) await ctx.pool.fill()
    expect(await parkedIds()).toEqual([])
    expect(servers.flatMap(({ runtime }) => runtime.faults.calls).filter((call) => call === 'create')).toHaveLength(1)
  })
})

it('a sandbox that is claimed while its usage is read is no reason for its build to pause', async () => {
  const api = await startServer()
  await fill(api)
  use(api, {})
  await api.ctx.pool.check()
  vi.spyOn(api.runtime, 'usage').mockImplementation(async (refs) => {
    expect((await create(api)).status).toBe(201)
    return new Map(refs.map(({ sandboxId }) => [sandboxId, { memoryBytes: MIB, cpuMicroseconds: 600_000_000, pids: 2 }]))
  })
  await api.ctx.pool.check()
  await waitFor('a pause after the creates', () => api.ctx.pool.isQuiet)
  await api.ctx.pool.fill()
  await api.ctx.pool.settled()
  expect(await parkedIds()).toHaveLength(1)
})

describe('starts for the pool', () => {
  it('end when a create waits for the memory that they have reserved', async () => {
    const api = await startServer({ SANDYARD_HOST_MEMORY_RESERVE: '1GiB' })
    world.engine.memory = { totalBytes: 64 * GIB, availableBytes: GIB + 200 * MIB }
    const hold = api.runtime.faults.hold('create')
    await api.ctx.pool.fill()
    await hold.reached
    expect((await create(api)).status).toBe(201)
    await api.ctx.pool.settled()
    expect(await rowsOfPool()).toEqual([])
    expect(await api.ctx.metrics.registry.metrics()).toContain('sandyard_pool_parkings_total{outcome="failed"} 0\n')
  })

  it('end where no look at the pool would see what they start', async () => {
    const [api, other] = [await startServer(), await startServer()]
    const { serverId } = other.ctx.sandboxes
    await sql`
      insert into parked_sandbox
        (sandbox_id, incarnation, template_id, build_id, generation, state, state_changed_at, server_id, memory_mib, expires_at)
      select 'i' || number, 1, ${world.templateId}, ${world.buildId}, 'of the other', 'parking', clock_timestamp() - interval '1 second',
        ${serverId}, 0, clock_timestamp() + interval '1 hour'
      from generate_series(1, 2000) as number`.execute(world.database.db)
    for (const _ of [1, 2, 3]) {
      await api.ctx.pool.fill()
      await api.ctx.pool.settled()
    }
    expect(world.engine.sandboxes.size).toBe(0)
  })

  it('go on while creates follow each other without a pause', async () => {
    const api = await startServer({}, true)
    await waitFor('the first one', async () => (await parkedIds()).length === 1)
    const creating = setInterval(() => api.ctx.pool.created({ templateId: world.templateId, tag: 'default' }, 'missed'), 2)
    try {
      await waitFor('another one', async () => (await parkedIds()).length > 1)
    } finally {
      clearInterval(creating)
    }
  })

  it('begin for as many as the host has memory for, and reserve it', async () => {
    const api = await startServer({ SANDYARD_HOST_MEMORY_RESERVE: '1GiB' })
    world.engine.memory = { totalBytes: 64 * GIB, availableBytes: GIB + 200 * MIB }
    await want(10)
    const hold = api.runtime.faults.hold('create')
    await api.ctx.pool.fill()
    await hold.reached
    expect(await api.ctx.metrics.registry.metrics()).toContain(`sandyard_start_memory_reserved_bytes ${128 * MIB}\n`)
    hold.release()
    await api.ctx.pool.settled()
    expect(world.engine.sandboxes.size).toBe(1)
  })
})

it('the last server that stops frees the pool, a few sandboxes at once', async () => {
  const api = await startServer({ SANDYARD_POOL_PER_TEMPLATE: '20' })
  await want(20)
  await fill(api)
  expect(await parkedIds()).toHaveLength(20)
  const remove = api.runtime.remove.bind(api.runtime)
  let [atOnce, most] = [0, 0]
  vi.spyOn(api.runtime, 'remove').mockImplementation(async (ref) => {
    atOnce += 1
    most = Math.max(most, atOnce)
    await remove(ref)
    atOnce -= 1
  })
  await api.ctx.pool.stop()
  expect([await rowsOfPool(), world.engine.sandboxes.size]).toEqual([[], 0])
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThanOrEqual(8)
})

it('a look at the engine that has found no end wakes no look at the pool', async () => {
  const api = await startServer()
  await fill(api)
  const look = vi.spyOn(api.ctx.pool, 'look')
  await reconcileNow(api)
  expect(look).not.toHaveBeenCalled()
  world.engine.exit('fake', { sandboxId: (await parkedIds())[0] ?? '', incarnation: 1 })
  await reconcileNow(api)
  expect(look).toHaveBeenCalled()
  look.mockRestore()
})
