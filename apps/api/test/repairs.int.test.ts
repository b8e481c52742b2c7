import { FakeRuntime } from '@sandyard/runtime/fake/fake-runtime'
import type { SandboxEndpoint, SandboxRef, SandboxSpec } from '@sandyard/runtime/types'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'

let world: World
beforeEach(async () => {
  world = await createWorld()
})
afterEach(() => world[Symbol.asyncDispose]())

/** Calls for the sandboxes in `hanging` never return and ignore their signal. Counts concurrent removals. */
class HangingRuntime extends FakeRuntime {
  readonly hanging = new Set<string>()
  hangsOnCreate = false
  removals = 0
  mostRemovals = 0

  override create(spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxEndpoint> {
    if (!this.hangsOnCreate) return super.create(spec, signal)
    this.hangsOnCreate = false
    this.hanging.add(spec.sandboxId)
    return new Promise(() => undefined)
  }

  override async remove(ref: SandboxRef): Promise<void> {
    if (this.hanging.has(ref.sandboxId)) return new Promise(() => undefined)
    this.removals += 1
    this.mostRemovals = Math.max(this.mostRemovals, this.removals)
    try {
      await new Promise((resolve) => setImmediate(resolve))
      return await super.remove(ref)
    } finally {
      this.removals -= 1
    }
  }
}

async function open(): Promise<{ api: Server; runtime: HangingRuntime }> {
  const endpointOf = () => ({ host: '127.0.0.1', daemonPort: world.daemon.port })
  const runtime = new HangingRuntime({ engine: world.engine, endpointOf })
  return { api: await world.startServer({ loops: true, runtime: () => runtime, env: { SANDYARD_MAX_SANDBOXES: '1000' } }), runtime }
}

const create = async (api: Server, timeout = 600): Promise<string> =>
  (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout } })).body.sandboxID
const isOnEngine = (id: string): boolean => world.engine.find('fake', { sandboxId: id, incarnation: 1 }) !== undefined

it('delays no other create, kill or expiry when the engine calls of one sandbox hang', async () => {
  const { api, runtime } = await open()
  const [stuck, killed, short] = [await create(api), await create(api), await create(api)]
  runtime.hanging.add(stuck)
  void api.call('DELETE', `/sandboxes/${stuck}`)
  await waitFor('the kill to begin', async () => (await api.call('GET', `/sandboxes/${stuck}`)).status === 404)
  // Every pass of the reconciler retries it from now on.
  await world.database.db
    .updateTable('sandbox')
    .set({ state_changed_at: sql<Date>`state_changed_at - interval '1 minute'` })
    .where('sandbox_id', '=', stuck)
    .execute()
  runtime.hangsOnCreate = true
  void create(api)

  await api.call('POST', `/sandboxes/${short}/timeout`, { body: { timeout: 0 } })
  await waitFor('the expiry', () => !isOnEngine(short))
  expect((await api.call('DELETE', `/sandboxes/${killed}`)).status).toBe(204)
  await waitFor('the removal', () => !isOnEngine(killed))
  expect(isOnEngine(await create(api))).toBe(true)
  expect(isOnEngine(stuck)).toBe(true)
})

it('ends many exited sandboxes with bounded concurrency and few lists of the engine', async () => {
  const { api, runtime } = await open()
  await waitFor('the subscription', () => world.engine.events.listenerCount('event') > 0)
  const ids: string[] = []
  for (let made = 0; made < 60; made += 10) ids.push(...(await Promise.all(Array.from({ length: 10 }, () => create(api)))))
  const lists = () => runtime.faults.calls.filter((call) => call === 'list').length
  const before = lists()
  for (const sandboxId of ids) world.engine.exit('fake', { sandboxId, incarnation: 1 })
  await waitFor('the end of all', async () => {
    const { count } = await world.database.db
      .selectFrom('sandbox')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return count === 0
  })
  expect(world.engine.sandboxes.size).toBe(0)
  expect(runtime.mostRemovals).toBeGreaterThan(1)
  expect(runtime.mostRemovals).toBeLessThanOrEqual(8)
  expect(lists() - before).toBeLessThan(ids.length)
  const history = await world.database.db.selectFrom('sandbox_history').select('reason').execute()
  expect(history.map(({ reason }) => reason)).toEqual(ids.map(() => 'lost'))
})
