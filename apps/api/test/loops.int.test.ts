import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { forgetOld } from '../src/sandboxes/repair/sandbox-loops.ts'
import { createWorld, endLease, reconcileNow, waitFor, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeEach(async () => {
  world = await createWorld()
  api = await world.startServer()
})
afterEach(() => world[Symbol.asyncDispose]())

const create = async (body: object = {}): Promise<string> =>
  (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', ...body } })).body.sandboxID

const status = async (id: string): Promise<number> => (await api.call('GET', `/sandboxes/${id}`)).status
const isOnEngine = (id: string): boolean => [...world.engine.sandboxes.values()].some(({ spec }) => spec.sandboxId === id)
const runReconciler = (): Promise<void> => reconcileNow(api)

/** Moves the state change of every row into the past. */
async function letPass(time: string): Promise<void> {
  const state_changed_at = sql<Date>`state_changed_at - ${time}::interval`
  await world.database.db.updateTable('sandbox').set({ state_changed_at }).execute()
}

async function eventsOf(subject: string): Promise<[string, unknown][]> {
  const rows = await world.database.db
    .selectFrom('event')
    .select(['kind', 'data'])
    .where('subject', '=', subject)
    .orderBy('event_id')
    .execute()
  return rows.map(({ kind, data }) => [kind, data['reason']])
}

describe('the expiry reaper', () => {
  it('ends only expired sandboxes when several servers run it', async () => {
    const [short, long] = [await create({ timeout: 1 }), await create({ timeout: 600 })]
    for (let servers = 0; servers < 3; servers += 1) await world.startServer({ loops: true })
    await waitFor('the end', async () => (await status(short)) === 404 && !isOnEngine(short))
    expect(await status(long)).toBe(200)
    await waitFor('the last event', async () => (await eventsOf(short)).length === 4)
    expect(await eventsOf(short)).toEqual([
      ['sandbox.starting', undefined],
      ['sandbox.running', undefined],
      ['sandbox.killing', 'expired'],
      ['sandbox.ended', 'expired'],
    ])
  })

  it('ends sandboxes that expired while no server ran', async () => {
    const id = await create()
    await world.database.db
      .updateTable('sandbox')
      .set({ expires_at: sql<Date>`clock_timestamp() - interval '1 hour'` })
      .execute()
    await api[Symbol.asyncDispose]()
    api = await world.startServer({ loops: true })
    await waitFor('the end', async () => (await status(id)) === 404 && !isOnEngine(id))
  })

  it('continues while one removal hangs', async () => {
    const server = await world.startServer({ loops: true })
    const hold = server.runtime.faults.hold('remove')
    const stuck = await create({ timeout: 1 })
    await hold.reached
    const other = await create({ timeout: 1 })
    await waitFor('the removal of the other', () => !isOnEngine(other))
    expect(await status(stuck)).toBe(404)
    hold.release()
  })
})

describe('the reconciler', () => {
  it('ends sandboxes whose engine restarted', async () => {
    const id = await create()
    world.engine.stop()
    world.engine.start()
    await runReconciler()
    expect(await status(id)).toBe(404)
    expect(isOnEngine(id)).toBe(false)
    expect((await eventsOf(id)).at(2)).toEqual(['sandbox.killing', 'engine_gone'])
  })

  it('ends nothing while the engine does not answer', async () => {
    const id = await create()
    world.engine.stop()
    await expect(runReconciler()).rejects.toThrow('cannot be reached')
    expect(await status(id)).toBe(200)
  })

  it('ends a sandbox after an exit event, and after a broken event stream', async () => {
    await world.startServer({ loops: true })
    const one = await create()
    await waitFor('the subscription', () => world.engine.events.listenerCount('event') > 0)
    world.engine.exit('fake', { sandboxId: one, incarnation: 1 })
    await waitFor('the end of the first', async () => (await status(one)) === 404 && !isOnEngine(one))

    const two = await create()
    world.engine.stop()
    world.engine.start()
    await waitFor('the end of the second', async () => (await status(two)) === 404 && !isOnEngine(two))
  })

  it('stores why a sandbox has ended: killed for its memory, with the engine, or unknown', async () => {
    await world.startServer({ loops: true })
    const [exited, hungry, told, seen] = [await create(), await create(), await create(), await create()]
    const reasonOf = async (id: string): Promise<unknown> => {
      const find = async () => (await eventsOf(id)).find(([kind]) => kind === 'sandbox.ended')
      await waitFor('the end', async () => (await find()) !== undefined)
      return (await find())?.[1]
    }
    await waitFor('the subscription', () => world.engine.events.listenerCount('event') > 0)
    world.engine.exit('fake', { sandboxId: exited, incarnation: 1 })
    world.engine.exit('fake', { sandboxId: hungry, incarnation: 1 }, 'out_of_memory')
    expect([await reasonOf(exited), await reasonOf(hungry)]).toEqual(['lost', 'out_of_memory'])

    world.engine.stop()
    for (const { spec, end } of world.engine.sandboxes.values())
      if (spec.sandboxId === seen && end) Object.assign(end, { cause: 'unknown' })
    world.engine.start()
    expect([await reasonOf(told), await reasonOf(seen)]).toEqual(['engine_gone', 'engine_gone'])
  })

  it('aborts a start whose sandbox ends before its daemon answers', async () => {
    const server = await world.startServer({ loops: true })
    await waitFor('the subscription', () => world.engine.events.listenerCount('event') > 0)
    world.daemon.answers.push(...Array.from({ length: 10_000 }, () => 503))
    const creating = server.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })
    await waitFor('the sandbox', () => world.engine.sandboxes.size === 1)
    for (const { spec } of world.engine.sandboxes.values()) world.engine.exit('fake', spec)
    expect(await creating).toMatchObject({ status: 500, body: { error_code: 'sandbox_create_failed' } })
    world.daemon.answers.length = 0
    expect(world.engine.sandboxes.size).toBe(0)
  })

  it('removes orphans and former incarnations, but no young sandboxes and no build sandboxes', async () => {
    const id = await create()
    const kept = [...world.engine.sandboxes.values()][0]
    if (kept === undefined) throw new Error('nothing on the engine')
    const old = new Date(Date.now() - 3_600_000)
    const put = (sandboxId: string, incarnation: number, createdAt: Date): void =>
      world.engine.put({ ...kept, spec: { ...kept.spec, sandboxId, incarnation }, createdAt })
    put('iorphan', 1, old)
    put('iyoung', 1, new Date())
    put('bbuild', 1, old)
    put(id, 7, old)
    await runReconciler()
    expect([...world.engine.sandboxes.values()].map(({ spec }) => `${spec.sandboxId}/${spec.incarnation}`).sort()).toEqual(
      [`${id}/1`, 'iyoung/1', 'bbuild/1'].sort(),
    )
  })

  it('ends a start only after the lease of its server has ended', async () => {
    const server = await world.startServer({ loops: true })
    const hold = server.runtime.faults.hold('create')
    const creating = server.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })
    await hold.reached
    await letPass('1 minute')
    await runReconciler()
    hold.release()
    expect((await creating).status).toBe(201)

    const dying = await world.startServer({ loops: true })
    const never = dying.runtime.faults.hold('create')
    void dying.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })
    await never.reached
    await endLease(world, dying)
    const states = async () =>
      (await world.database.db.selectFrom('sandbox').select('state').orderBy('state').execute()).map(({ state }) => state)
    await runReconciler()
    expect(await states()).toEqual(['running'])
  })

  it('continues with the others when one repair fails', async () => {
    const ids = [await create(), await create()]
    world.engine.stop()
    world.engine.start()
    api.runtime.faults.failBefore('remove')
    await runReconciler()
    expect(ids.filter(isOnEngine)).toHaveLength(1)
    await letPass('1 minute')
    await runReconciler()
    expect(ids.filter(isOnEngine)).toEqual([])
  })

  it('deletes answered keys after a day', async () => {
    const headers = { 'idempotency-key': 'old' }
    const first = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' }, headers })
    await world.database.db
      .updateTable('idempotency_key')
      // The type forbids updates of this column; the test simulates the passing of time.
      .set({ created_at: sql`now() - interval '25 hours'` } as never)
      .execute()
    await forgetOld(world.database.db, api.ctx.config.retention)
    const second = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' }, headers })
    expect(second.body.sandboxID).not.toBe(first.body.sandboxID)
  })
})
