import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FakeSandbox } from '@sandyard/runtime/fake/fake-engine'
import { reapExpired } from '../src/sandboxes/repair/expiry-reaper.ts'
import { Repairs } from '../src/sandboxes/repair/repairs.ts'
import { reconcile } from '../src/sandboxes/repair/reconciler.ts'
import { createWorld, endLease, reconcileNow, type Server, type World } from './support/control-plane.ts'
import { Fuse } from './support/fuse.ts'

let world: World
let api: Server
beforeEach(async () => {
  world = await createWorld()
  api = await world.startServer()
})
afterEach(() => world[Symbol.asyncDispose]())

async function create(fields: object = {}): Promise<string> {
  return (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 600, ...fields } })).body.sandboxID
}

const rowOf = (id: string) => world.database.db.selectFrom('sandbox').selectAll().where('sandbox_id', '=', id).executeTakeFirstOrThrow()
const pause = (id: string, memory: boolean) => api.call('POST', `/sandboxes/${id}/pause`, { body: { memory } })
const connect = (id: string) => api.call('POST', `/sandboxes/${id}/connect`, { body: { timeout: 60 } })

/** Makes all unfinished work old enough to count as abandoned. */
const makeOld = () =>
  world.database.db
    .updateTable('sandbox')
    .set({ state_changed_at: sql<Date>`state_changed_at - interval '5 minutes'` })
    .execute()

function onEngine(id: string): FakeSandbox {
  const found = [...world.engine.sandboxes.values()].find(({ spec }) => spec.sandboxId === id)
  if (found === undefined) throw new Error(`the engine has no sandbox ${id}`)
  return found
}

describe('the pause at the end time', () => {
  it.each([true, false])('does not touch the sandbox without the lease of the server (memory: %s)', async (autoPauseMemory) => {
    const id = await create({ autoPause: true, autoPauseMemory })
    await world.database.db
      .updateTable('sandbox')
      .set({ expires_at: sql<Date>`clock_timestamp()` })
      .execute()
    await endLease(world, api)
    const repairs = new Repairs(api.ctx.log.sandboxes)
    await reapExpired({ ...api.ctx.sandboxes, repairs, engineId: api.ctx.engineId })
    await repairs.drain()
    expect((await rowOf(id)).state).toBe('running')
    expect(onEngine(id).state).toBe('running')
  })
})

describe('a pause without memory that fails', () => {
  it('leaves a running sandbox with the address that it has then', async () => {
    const id = await create()
    const moved = { host: '127.0.0.1', daemonPort: world.daemon.port + 1 }
    const failing = api.runtime.faults.hold('pause')
    api.runtime.faults.failBefore('pause')
    const answer = pause(id, false)
    await failing.reached
    // It has left the network, as at the beginning of the end of its processes.
    onEngine(id).endpoint = moved
    failing.release()
    expect((await answer).status).toBe(500)
    expect(await rowOf(id)).toMatchObject({
      state: 'running',
      endpoint_host: moved.host,
      endpoint_daemon_port: moved.daemonPort,
    })
  })
})

/** The history of a sandbox, oldest first, with the reason that an event has. */
async function historyOf(id: string): Promise<string[]> {
  const rows = await world.database.db.selectFrom('event').select(['kind', 'data']).where('subject', '=', id).orderBy('event_id').execute()
  return rows.map(({ kind, data }) => [kind.replace('sandbox.', ''), (data as { reason?: string }).reason].filter(Boolean).join(' '))
}

async function linesOf(id: string): Promise<string[]> {
  const rows = await world.database.db.selectFrom('sandbox_log').select('message').where('sandbox_id', '=', id).orderBy('log_id').execute()
  return rows.map(({ message }) => message)
}

const LOST = 'Memory of the paused sandbox is lost; it will resume from its files'

describe('the history of a sandbox whose memory was lost', () => {
  it('says so when the processes end during the pause', async () => {
    const id = await create()
    const pausing = api.runtime.faults.hold('pause')
    const answer = pause(id, true)
    await pausing.reached
    world.engine.exit('fake', { sandboxId: id, incarnation: 1 })
    pausing.release()
    expect((await answer).status).toBe(500)
    expect(await rowOf(id)).toMatchObject({ state: 'paused', pause_keep: 'files' })
    expect((await historyOf(id)).slice(-3)).toEqual(['pausing', 'memory_lost processes_ended', 'paused'])
    expect((await linesOf(id)).slice(-2)).toEqual([LOST, 'Sandbox paused (files kept)'])
  })

  it('says so when the engine ends before the resume, and once only', async () => {
    const id = await create()
    await pause(id, true)
    world.engine.stop()
    world.engine.start()
    expect((await connect(id)).status).toBe(201)
    await reconcileNow(api)
    expect((await historyOf(id)).slice(-3)).toEqual(['resuming', 'memory_lost processes_ended', 'resumed'])
    await pause(id, true)
    expect((await connect(id)).status).toBe(201)
    expect((await historyOf(id)).filter((kind) => kind.startsWith('memory_lost'))).toHaveLength(1)
  })

  it('says so when a resume fails and leaves it without its processes', async () => {
    const id = await create()
    await pause(id, true)
    world.engine.stop()
    world.engine.start()
    api.runtime.faults.failBefore('resume')
    expect((await connect(id)).status).toBe(500)
    expect(await rowOf(id)).toMatchObject({ state: 'paused', pause_keep: 'files' })
    expect((await historyOf(id)).slice(-2)).toEqual(['memory_lost processes_ended', 'resume_failed'])
  })

  it('says nothing where the memory was kept, or was not asked for', async () => {
    const [kept, dropped] = [await create(), await create()]
    await pause(kept, true)
    await pause(dropped, false)
    for (const id of [kept, dropped]) expect((await connect(id)).status).toBe(201)
    await pause(kept, true)
    await api.call('POST', `/sandboxes/${kept}/resume`, { body: { timeout: 60, memory: false } })
    for (const id of [kept, dropped]) expect((await historyOf(id)).join()).not.toContain('memory_lost')
  })
})

describe('a pause that fails and whose processes have ended when they are to go on', () => {
  it('leaves the sandbox paused with its files: the next resume prepares the daemon', async () => {
    const id = await create()
    api.runtime.faults.failBefore('pause')
    const thawing = api.runtime.faults.hold('resume')
    const answer = pause(id, false)
    await thawing.reached
    onEngine(id).state = 'stopped'
    thawing.release()
    expect((await answer).status).toBe(500)
    expect(await rowOf(id)).toMatchObject({ state: 'paused', pause_keep: 'files' })
    const before = world.daemon.inits.length
    expect((await connect(id)).status).toBe(201)
    expect(world.daemon.inits.length).toBe(before + 1)
  })
})

describe('a sandbox whose memory was lost', () => {
  it('is paused with its files when the server dies while it starts them: the next resume prepares the daemon', async () => {
    const id = await create()
    await pause(id, true)
    world.engine.stop()
    world.engine.start()
    // Begin, runtime.
    const fuse = new Fuse({ step: 2, when: 'after' })
    const dying = await world.startServer({ fuse })
    void dying.call('POST', `/sandboxes/${id}/connect`, { body: { timeout: 60 } })
    await fuse.blown
    await makeOld()
    await reconcileNow(api)
    expect(await rowOf(id)).toMatchObject({ state: 'paused', pause_keep: 'files' })
    const before = world.daemon.inits.length
    expect((await connect(id)).status).toBe(201)
    expect(world.daemon.inits.length).toBe(before + 1)
  })

  it('is paused with its files when a resume without memory fails in the daemon', async () => {
    const id = await create()
    await pause(id, true)
    world.daemon.answers.push(400)
    const answer = await api.call('POST', `/sandboxes/${id}/resume`, { body: { timeout: 60, memory: false } })
    expect(answer.status).toBe(500)
    expect(await rowOf(id)).toMatchObject({ state: 'paused', pause_keep: 'files' })
    const before = world.daemon.inits.length
    expect((await connect(id)).status).toBe(201)
    expect(world.daemon.inits.length).toBe(before + 1)
  })

  it('is paused with its files when something has started it meanwhile', async () => {
    const id = await create()
    await pause(id, true)
    Object.assign(onEngine(id), { state: 'running', startId: 'another' })
    await reconcileNow(api)
    expect(await rowOf(id)).toMatchObject({ state: 'paused', pause_keep: 'files' })
    const before = world.daemon.inits.length
    expect((await connect(id)).status).toBe(201)
    expect(world.daemon.inits.length).toBe(before + 1)
  })
})

describe('a sandbox that was seen stopped', () => {
  it('is kept when it was resumed before its end begins', async () => {
    const id = await create()
    // The list is made while it is paused with its files, after the rows were read.
    const listing = api.runtime.faults.hold('list')
    const repairs = new Repairs(api.ctx.log.sandboxes)
    const others = Promise.withResolvers<void>()
    const busy = Array.from({ length: 8 }, (_, index) => repairs.run({ sandboxId: `other${index}`, incarnation: 1 }, () => others.promise))
    const reconciling = reconcile({ ...api.ctx.sandboxes, repairs, engineId: api.ctx.engineId })
    await listing.reached
    await pause(id, false)
    listing.release()
    await reconciling
    expect((await connect(id)).status).toBe(201)
    others.resolve()
    await Promise.all(busy)
    await repairs.drain()
    expect((await rowOf(id)).state).toBe('running')
    expect(onEngine(id).state).toBe('running')
  })
})

describe('concurrent pauses', () => {
  it('succeed together, also one that asks for a healthy daemon while another one freezes it', async () => {
    const id = await create()
    const asked = Promise.withResolvers<boolean>()
    world.daemon.isResponsive = asked.promise
    const { probes } = world.daemon
    const strict = api.call('POST', `/sandboxes/${id}/pause`, { body: { requireHealthyGuest: true } })
    await expect.poll(() => world.daemon.probes).toBe(probes + 1)
    world.daemon.isResponsive = true
    expect((await pause(id, true)).status).toBe(204)
    asked.resolve(false)
    expect((await strict).status).toBe(204)
    expect(await rowOf(id)).toMatchObject({ state: 'paused', pause_keep: 'memory' })
  })
})

describe('concurrent connects', () => {
  it('each get their lifetime, also the one that finds the sandbox resumed by another', async () => {
    const id = await create()
    await pause(id, true)
    const other = await world.startServer()
    const resuming = other.runtime.faults.hold('resume')
    const short = other.call('POST', `/sandboxes/${id}/connect`, { body: { timeout: 30 } })
    await resuming.reached
    const long = api.call('POST', `/sandboxes/${id}/connect`, { body: { timeout: 900 } })
    resuming.release()
    await Promise.all([short, long])
    const { started_at: from, expires_at: to } = await rowOf(id)
    expect((to?.getTime() ?? 0) - (from?.getTime() ?? 0)).toBeGreaterThan(800_000)
  })
})

describe('a transition that another server has taken over', () => {
  it('is not finished by the first server', async () => {
    const id = await create()
    await pause(id, false)
    const slow = await world.startServer()
    const resuming = slow.runtime.faults.hold('resume')
    const answer = slow.call('POST', `/sandboxes/${id}/resume`, { body: { timeout: 60 } })
    await resuming.reached
    await makeOld()
    const settling = api.runtime.faults.hold('pause')
    const healing = reconcileNow(api)
    await settling.reached
    resuming.release()
    expect((await answer).status).toBe(500)
    settling.release()
    await healing
    expect(await rowOf(id)).toMatchObject({ state: 'paused', pause_keep: 'files' })
    expect(onEngine(id).state).toBe('stopped')
    expect((await connect(id)).status).toBe(201)
  })
})
