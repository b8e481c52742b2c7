import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AppError } from '@sandyard/kit/errors/app-error'
import { collectVolumes } from '../src/volumes/collect-volumes.ts'
import { measureVolumes } from '../src/volumes/measure-volumes.ts'
import { createWorld, reconcileNow, waitFor, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
let count = 0

beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ capabilities: { mounts: true } })
})
afterAll(() => world[Symbol.asyncDispose]())

interface Deleted {
  readonly id: string
  readonly name: string
}

const addVolume = async (): Promise<Deleted> => {
  const name = `data${(count += 1)}`
  return { id: (await api.call('POST', '/volumes', { body: { name } })).body.volumeID, name }
}
const remove = (id: string) => api.call('DELETE', `/volumes/${id}`)
const collect = (graceSeconds = 0) => collectVolumes({ ...api.ctx, log: api.ctx.log.sandboxes }, { graceSeconds })
const measure = (aloneMs?: number) => measureVolumes({ ...api.ctx, log: api.ctx.log.sandboxes }, aloneMs === undefined ? {} : { aloneMs })
const hasRow = async (id: string): Promise<boolean> =>
  (await world.database.db.selectFrom('volume').select('volume_id').where('volume_id', '=', id).execute()).length > 0
const hasFiles = (id: string): boolean => world.engine.volumes.has(`fake/${id}`)

describe('the files of a deleted volume', () => {
  it('are removed with its row, and those of others stay', async () => {
    const [gone, kept] = [await addVolume(), await addVolume()]
    await remove(gone.id)
    await collect()
    expect([await hasRow(gone.id), hasFiles(gone.id)]).toEqual([false, false])
    expect([await hasRow(kept.id), hasFiles(kept.id)]).toEqual([true, true])
  })

  it('stay for a moment', async () => {
    const { id } = await addVolume()
    await remove(id)
    await collect(3600)
    expect([await hasRow(id), hasFiles(id)]).toEqual([true, true])
  })

  it('stay while a sandbox has them, also a paused one, and go after its end', async () => {
    const { id, name } = await addVolume()
    const body = { templateID: 'base', volumeMounts: [{ name, path: '/data' }] }
    const { sandboxID } = (await api.call('POST', '/v2/sandboxes', { body })).body
    await remove(id)
    await collect()
    expect(hasFiles(id)).toBe(true)
    await api.call('POST', `/sandboxes/${sandboxID}/pause`, { body: { memory: false } })
    await collect()
    expect([await hasRow(id), hasFiles(id)]).toEqual([true, true])
    await api.call('DELETE', `/sandboxes/${sandboxID}`)
    await waitFor('the end of the sandbox', async () => {
      await reconcileNow(api)
      return world.engine.sandboxes.size === 0
    })
    await collect()
    expect([await hasRow(id), hasFiles(id)]).toEqual([false, false])
  })

  it('stay while a sandbox is reserved that has no container yet', async () => {
    const { id, name } = await addVolume()
    const hold = api.runtime.faults.hold('create')
    const creating = api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', volumeMounts: [{ name, path: '/data' }] } })
    await hold.reached
    await remove(id)
    await collect()
    expect([await hasRow(id), hasFiles(id)]).toEqual([true, true])
    hold.release()
    expect((await creating).status).toBe(201)
  })

  it('are tried again after a failure, which holds up no other', async () => {
    const [one, two] = [await addVolume(), await addVolume()]
    await remove(one.id)
    await remove(two.id)
    api.runtime.faults.failBefore('volumes.remove')
    await collect()
    expect([hasFiles(one.id), hasFiles(two.id)].filter(Boolean)).toHaveLength(1)
    await collect()
    expect([await hasRow(one.id), await hasRow(two.id), hasFiles(one.id), hasFiles(two.id)]).toEqual([false, false, false, false])
  })

  it('are removed after a crash between the files and the row', async () => {
    const { id } = await addVolume()
    await remove(id)
    await world.engine.volumes.remove(`fake/${id}`)
    await collect()
    expect(await hasRow(id)).toBe(false)
  })
})

describe('a volume that the engine makes after its row was removed', () => {
  const rowOf = (id: string) =>
    world.database.db.selectFrom('deleted_volume').select('removed_at').where('volume_id', '=', id).executeTakeFirst()
  const addGone = async (): Promise<Deleted> => {
    const gone = await addVolume()
    await remove(gone.id)
    await collect()
    await world.engine.volumes.create(`fake/${gone.id}`)
    return gone
  }

  it('is removed, and another one without a row stays', async () => {
    await world.engine.volumes.create(`fake/${randomUUID()}`)
    const before = world.engine.volumes.names
    const { id } = await addGone()
    expect(world.engine.volumes.names).toHaveLength(before.length + 1)
    await collect()
    expect(world.engine.volumes.names).toEqual(before)
    expect(await rowOf(id)).toBeDefined()
  })

  it('is tried again after a failure, which holds up no other', async () => {
    const [one, two] = [await addGone(), await addGone()]
    api.runtime.faults.failBefore('volumes.remove')
    await collect()
    expect([hasFiles(one.id), hasFiles(two.id)].filter(Boolean)).toHaveLength(1)
    await collect()
    expect([hasFiles(one.id), hasFiles(two.id)]).toEqual([false, false])
  })

  it('stays when a row of its id is there again, as after a restore', async () => {
    const { id } = await addVolume()
    await world.database.db.insertInto('deleted_volume').values({ volume_id: id }).execute()
    await collect()
    expect([await hasRow(id), hasFiles(id)]).toEqual([true, true])
  })

  it('is remembered for 30 days', async () => {
    const { id } = await addGone()
    const days = (count: number) => new Date(Date.now() - count * 86_400_000)
    const setAge = (count: number) =>
      world.database.db
        .updateTable('deleted_volume')
        .set({ removed_at: days(count) })
        .where('volume_id', '=', id)
        .execute()
    await setAge(29)
    await collect()
    expect(await rowOf(id)).toBeDefined()
    await setAge(31)
    await collect()
    expect(await rowOf(id)).toBeUndefined()
  })
})

it('leaves volumes alone that have no row', async () => {
  await world.engine.volumes.create('fake/restored')
  await collect()
  expect(hasFiles('restored')).toBe(true)
})

describe('the stored bytes of a team', () => {
  const stored = async (): Promise<number> => (await api.call('GET', `/teams/${world.teamId}/limits`)).body.maxStoredBytes.used
  const setLimit = (bytes: number | null) =>
    world.database.db.updateTable('team').set({ max_stored_bytes: bytes }).where('id', '=', world.teamId).execute()

  it('count what is written into its volumes, at once and as the engine measures it', async () => {
    const { body } = await api.call('POST', '/volumes', { body: { name: 'measured' } })
    const origin = await api.app.listen({ host: '127.0.0.1', port: 0 })
    const before = await stored()
    const put = async (path: string, text: string) =>
      fetch(`${origin}/volumecontent/${body.volumeID}/file?path=${path}&force=true`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${body.token}` },
        body: text,
      })
    expect((await put('/a', 'x'.repeat(1000))).status).toBe(201)
    expect((await put('/a', 'y'.repeat(1000))).status).toBe(201)
    expect((await stored()) - before).toBe(2000)
    await measure()
    expect((await stored()) - before).toBe(1000)

    await setLimit((await stored()) + 100)
    try {
      expect((await put('/b', 'x'.repeat(100))).status).toBe(201)
      const refused = await put('/c', 'x')
      expect([refused.status, await refused.json()]).toEqual([507, { code: 'INSUFFICIENT_STORAGE', message: expect.stringMatching(/./) }])
      await setLimit((await stored()) - 1)
      expect((await api.call('POST', '/volumes', { body: { name: 'more' } })).status).toBe(507)
    } finally {
      await setLimit(null)
    }
    expect((await put('/c', 'x')).status).toBe(201)
  })

  it('are measured by one server in ten minutes', async () => {
    const sizes = () => api.runtime.faults.calls.filter((point) => point === 'volumes.sizes').length
    await measure()
    const before = sizes()
    await Promise.all([measure(), measure()])
    expect(sizes()).toBe(before)
  })
})

describe('an engine that is too slow to measure all volumes at once', () => {
  const late = new AppError('deadline_exceeded', 'The Docker engine did not answer in time.')
  const db = () => world.database.db
  const forgetClaim = () => db().deleteFrom('server_setting').where('name', '=', 'volumes_measured_at').execute()
  const forgetSlowness = () => db().deleteFrom('server_setting').where('name', '=', 'volumes_measured_alone_until').execute()
  const callsOf = (point: string): number => api.runtime.faults.calls.filter((call) => call === point).length
  const sizeOf = async (id: string): Promise<number> =>
    (await db().selectFrom('volume').select('size_bytes').where('volume_id', '=', id).executeTakeFirstOrThrow()).size_bytes
  const addFilled = async (bytes: number): Promise<string> => {
    const { id } = await addVolume()
    await writeFile(join(world.engine.volumes.pathOf(`fake/${id}`), 'f'), Buffer.alloc(bytes))
    return id
  }

  it('measures each alone, and is not asked for all again soon', async () => {
    await forgetClaim()
    const [one, two, gone] = [await addFilled(100), await addFilled(200), await addVolume()]
    await world.engine.volumes.remove(`fake/${gone.id}`)
    api.runtime.faults.failBefore('volumes.sizes', late)
    await measure()
    expect([await sizeOf(one), await sizeOf(two), await sizeOf(gone.id)]).toEqual([100, 200, 0])
    await writeFile(join(world.engine.volumes.pathOf(`fake/${one}`), 'more'), Buffer.alloc(7))
    await forgetClaim()
    const before = callsOf('volumes.sizes')
    await measure()
    expect([await sizeOf(one), callsOf('volumes.sizes')]).toEqual([107, before])
    await forgetSlowness()
    await forgetClaim()
    await measure()
    expect(callsOf('volumes.sizes')).toBe(before + 1)
  })

  it('goes on in the next pass where the time of one ended, and one that cannot be measured holds up no other', async () => {
    await forgetClaim()
    await db().deleteFrom('volume').execute()
    const ids = [await addFilled(1), await addFilled(2), await addFilled(3)]
    api.runtime.faults.failBefore('volumes.sizes', late)
    // One in a pass.
    await measure(0)
    const measured = async () => (await Promise.all(ids.map(sizeOf))).filter((bytes) => bytes > 0).length
    expect(await measured()).toBe(1)
    await forgetClaim()
    api.runtime.faults.failBefore('volumes.sizeOf')
    await measure()
    expect(await measured()).toBe(2)
    await forgetClaim()
    await measure()
    expect(await measured()).toBe(3)
    await forgetSlowness()
  })
})

it('measures those alone that the engine cannot count', async () => {
  await world.database.db.deleteFrom('server_setting').where('name', '=', 'volumes_measured_at').execute()
  const { id } = await addVolume()
  await writeFile(join(world.engine.volumes.pathOf(`fake/${id}`), 'f'), 'five!')
  world.engine.volumes.uncounted.add(`fake/${id}`)
  await measure()
  const { size_bytes: bytes } = await world.database.db
    .selectFrom('volume')
    .select('size_bytes')
    .where('volume_id', '=', id)
    .executeTakeFirstOrThrow()
  expect(bytes).toBe(5)
})
