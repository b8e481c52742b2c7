import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
    await measureVolumes(api.ctx)
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
    await measureVolumes(api.ctx)
    const before = sizes()
    await Promise.all([measureVolumes(api.ctx), measureVolumes(api.ctx)])
    expect(sizes()).toBe(before)
  })
})
