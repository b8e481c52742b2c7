import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { collectVolumes } from '../src/volumes/collect-volumes.ts'
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

it('leaves volumes alone that have no row', async () => {
  await world.engine.volumes.create('fake/restored')
  await collect()
  expect(hasFiles('restored')).toBe(true)
})
