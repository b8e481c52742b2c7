import { sql } from 'kysely'
import { UNFINISHED_RESTORE } from '@sandyard/db/engine-setting'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { AppError } from '@sandyard/kit/errors/app-error'
import { FakeEngine } from '@sandyard/runtime/fake/fake-engine'
import { FakeRuntime } from '@sandyard/runtime/fake/fake-runtime'
import type { FakeRuntimeOptions } from '@sandyard/runtime/fake/fake-runtime-options'
import type { RuntimeSnapshot } from '@sandyard/runtime/types'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { adoptRestored, type PausedOfBackup } from '../src/servers/adopt-restored.ts'
import { createWorld, reconcileNow, type Server, type World } from './support/control-plane.ts'

let world: World
beforeEach(async () => {
  world = await createWorld()
})
afterEach(() => world[Symbol.asyncDispose]())

const log = silentLogger()
const create = async (api: Server, templateID = 'base'): Promise<string> =>
  (await api.call('POST', '/v2/sandboxes', { body: { templateID, timeout: 600 } })).body.sandboxID as string
const refOf = (sandboxId: string) => ({ sandboxId, incarnation: 1 })
const filesOf = (engine: FakeEngine, id: string) => [...engine.sandboxes.values()].find(({ spec }) => spec.sandboxId === id)?.files

/** The state of the database after the tables of a backup were loaded. */
async function markUnfinished(): Promise<void> {
  await world.database.db.updateTable('server_setting').set({ value: UNFINISHED_RESTORE }).where('name', '=', 'engine_id').execute()
}

it('brings paused sandboxes and snapshots to another engine, and ends the sandboxes that ran', async () => {
  const former = await world.startServer()
  const [paused, lost, running] = [await create(former), await create(former), await create(former)]
  filesOf(world.engine, paused)?.set('/root/kept', 'yes')
  const taken = await former.call('POST', `/sandboxes/${running}/snapshots`, { body: {} })
  expect(taken.status).toBe(201)
  for (const id of [paused, lost]) expect((await former.call('POST', `/sandboxes/${id}/pause`)).status).toBe(204)
  const snapshot: RuntimeSnapshot = await former.runtime.snapshot(refOf(paused), { name: 'backup-1', keep: 'files' })
  await former[Symbol.asyncDispose]()
  await markUnfinished()

  const other = new FakeEngine()
  for (const [name, image] of world.engine.images) other.images.set(name, image)
  const onOther = { runtime: (given: FakeRuntimeOptions) => new FakeRuntime({ ...given, engine: other }) }
  for (const env of [{}, { SANDYARD_ADOPT_ENGINE: other.id }])
    await expect(world.startServer({ ...onOther, env })).rejects.toThrow('A restore of this database was not completed')
  const backup: PausedOfBackup[] = [{ ...refOf(paused), snapshot: JSON.parse(JSON.stringify(snapshot)) as RuntimeSnapshot }]
  const runtime = new FakeRuntime({ engine: other })
  runtime.faults.failAfter('createPaused')
  await expect(adoptRestored({ database: world.database, runtime, log }, backup)).rejects.toThrow()
  await expect(world.startServer(onOther)).rejects.toThrow('A restore of this database was not completed')
  expect(await adoptRestored({ database: world.database, runtime, log }, backup)).toEqual({ paused: 1, ended: 2, leftOut: [] })

  const moved = await world.startServer(onOther)
  expect((await moved.call('GET', `/sandboxes/${paused}`)).body).toMatchObject({ state: 'paused' })
  for (const id of [lost, running]) expect((await moved.call('GET', `/sandboxes/${id}`)).status).toBe(404)
  await world.database.db
    .updateTable('sandbox')
    .set({ state_changed_at: sql<Date>`state_changed_at - interval '1 minute'` })
    .execute()
  await reconcileNow(moved)
  const history = await world.database.db.selectFrom('sandbox_history').select(['sandbox_id', 'reason']).execute()
  expect(new Map(history.map((row) => [row.sandbox_id, row.reason]))).toEqual(new Map([lost, running].map((id) => [id, 'restored'])))
  expect((await moved.call('POST', `/sandboxes/${paused}/resume`, { body: { timeout: 600 } })).status).toBe(201)
  expect(filesOf(other, paused)?.get('/root/kept')).toBe('yes')
  expect(await create(moved, taken.body.snapshotID as string)).toMatch(/^i/)
})

it('keeps sandboxes that the engine still has', async () => {
  const former = await world.startServer()
  const [paused, running] = [await create(former), await create(former)]
  filesOf(world.engine, paused)?.set('/root/kept', 'newer')
  const snapshot = await former.runtime.snapshot(refOf(paused), { name: 'backup-1', keep: 'files' })
  filesOf(world.engine, paused)?.set('/root/kept', 'newest')
  expect((await former.call('POST', `/sandboxes/${paused}/pause`)).status).toBe(204)
  await former[Symbol.asyncDispose]()
  await markUnfinished()
  const adopted = await adoptRestored({ database: world.database, runtime: new FakeRuntime({ engine: world.engine }), log }, [
    { ...refOf(paused), snapshot },
  ])
  expect(adopted).toEqual({ paused: 1, ended: 0, leftOut: [] })
  const back = await world.startServer()
  expect((await back.call('GET', `/sandboxes/${running}`)).body).toMatchObject({ state: 'running' })
  expect((await back.call('POST', `/sandboxes/${paused}/resume`, { body: { timeout: 600 } })).status).toBe(201)
  expect(filesOf(world.engine, paused)?.get('/root/kept')).toBe('newest')
})

it('leaves a paused sandbox out that the runtime cannot take, and brings the others in', async () => {
  const former = await world.startServer()
  const [refused, paused] = [await create(former), await create(former)]
  for (const id of [refused, paused]) expect((await former.call('POST', `/sandboxes/${id}/pause`)).status).toBe(204)
  const backup: PausedOfBackup[] = []
  for (const id of [refused, paused])
    backup.push({ ...refOf(id), snapshot: await former.runtime.snapshot(refOf(id), { name: `backup-${id}`, keep: 'files' }) })
  await former[Symbol.asyncDispose]()
  await markUnfinished()
  const other = new FakeEngine()
  for (const [name, image] of world.engine.images) other.images.set(name, image)
  const runtime = new FakeRuntime({ engine: other })
  runtime.faults.failBefore('createPaused', new AppError('unimplemented', 'This runtime has no egress gateway.'))
  expect(await adoptRestored({ database: world.database, runtime, log }, backup)).toEqual({
    paused: 1,
    ended: 1,
    leftOut: [{ sandboxId: refused, reason: 'This runtime has no egress gateway.' }],
  })
  const moved = await world.startServer({ runtime: (given: FakeRuntimeOptions) => new FakeRuntime({ ...given, engine: other }) })
  expect((await moved.call('GET', `/sandboxes/${refused}`)).status).toBe(404)
  expect((await moved.call('GET', `/sandboxes/${paused}`)).body).toMatchObject({ state: 'paused' })
})

it('replaces the files that an earlier restore brought to the engine', async () => {
  const former = await world.startServer()
  const paused = await create(former)
  const snapshotWith = async (text: string): Promise<PausedOfBackup> => {
    filesOf(world.engine, paused)?.set('/root/kept', text)
    return { ...refOf(paused), snapshot: await former.runtime.snapshot(refOf(paused), { name: `backup-${text}`, keep: 'files' }) }
  }
  const [first, second] = [await snapshotWith('first'), await snapshotWith('second')]
  expect((await former.call('POST', `/sandboxes/${paused}/pause`)).status).toBe(204)
  await former[Symbol.asyncDispose]()
  const { db } = world.database
  const { pause_handle: handle } = await db.selectFrom('sandbox').select('pause_handle').executeTakeFirstOrThrow()
  const other = new FakeEngine()
  for (const [name, image] of world.engine.images) other.images.set(name, image)
  const runtime = new FakeRuntime({ engine: other })
  for (const [backup, text] of [
    [first, 'first'],
    [second, 'second'],
  ] as const) {
    await markUnfinished()
    await db
      .updateTable('sandbox')
      .set({ pause_handle: JSON.stringify(handle) })
      .execute()
    expect(await adoptRestored({ database: world.database, runtime, log }, [backup])).toEqual({ paused: 1, ended: 0, leftOut: [] })
    expect(filesOf(other, paused)?.get('/root/kept')).toBe(text)
  }
})
