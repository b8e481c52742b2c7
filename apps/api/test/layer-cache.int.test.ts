import { afterAll, beforeAll, expect, it } from 'vitest'
import { LayerCache } from '../src/builds/engine/layer-cache.ts'
import { createWorld, type World } from './support/control-plane.ts'

let world: World

beforeAll(async () => {
  world = await createWorld()
})

afterAll(async () => {
  await world[Symbol.asyncDispose]()
})

const KEY = 'a'.repeat(64)
const result = { context: { user: 'user', workdir: '/srv', env: { A: '1' } } }

it('keeps the first of two layers with one key, except with replace, and deletes only the given layer', async () => {
  const cache = new LayerCache(world.database, world.teamId)
  const keep = (image: string, replace = false): Promise<void> => cache.keep({ key: KEY, image, result }, { replace })
  const image = async (): Promise<string | undefined> => (await cache.find([KEY, 'b'.repeat(64)])).get(KEY)?.image
  expect(await image()).toBeUndefined()
  await Promise.all([keep('one'), keep('two')])
  const first = await image()
  expect(['one', 'two']).toContain(first)
  expect((await cache.find([KEY])).get(KEY)).toEqual({ key: KEY, image: first, result })
  await keep('three', true)
  await cache.forget({ key: KEY, image: 'one', result })
  expect(await image()).toBe('three')
  await cache.forget({ key: KEY, image: 'three', result })
  expect(await image()).toBeUndefined()
})

it('updates the last use of a layer when it is found', async () => {
  const { db } = world.database
  const cache = new LayerCache(world.database, world.teamId)
  await cache.keep({ key: KEY, image: 'used', result }, { replace: false })
  await db
    .updateTable('build_layer')
    .set({ last_used_at: new Date(0) })
    .execute()
  await cache.find([KEY])
  const { last_used_at: usedAt } = await db.selectFrom('build_layer').select('last_used_at').executeTakeFirstOrThrow()
  expect(usedAt.getTime()).toBeGreaterThan(0)
})
