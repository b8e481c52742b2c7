import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { reapExpired, startReaper } from '../src/sandboxes/repair/expiry-reaper.ts'
import { Repairs } from '../src/sandboxes/repair/repairs.ts'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
})
afterAll(() => world[Symbol.asyncDispose]())

async function create(timeout: number): Promise<string> {
  const { body } = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout } })
  return body.sandboxID
}

const expireAt = (id: string, at: string): Promise<unknown> =>
  world.database.db
    .updateTable('sandbox')
    .set({ expires_at: sql<Date>`clock_timestamp() + ${at}::interval` })
    .where('sandbox_id', '=', id)
    .execute()

const isThere = async (id: string): Promise<boolean> => (await api.call('GET', `/sandboxes/${id}`)).status === 200

it('takes what has expired, and tells how long the next one has', async () => {
  const repairs = new Repairs(api.ctx.log.sandboxes)
  const reap = (): Promise<number | undefined> => reapExpired({ ...api.ctx.sandboxes, repairs, engineId: api.ctx.engineId })
  expect(await reap()).toBeUndefined()
  const [first, second] = [await create(3600), await create(7200)]
  expect(await reap()).toSatisfy((ms: number) => ms > 0 && ms <= 3_600_000)
  await expireAt(first, '-1 second')
  expect(await reap()).toSatisfy((ms: number) => ms > 3_600_000 && ms <= 7_200_000)
  await repairs.drain()
  expect([await isThere(first), await isThere(second)]).toEqual([false, true])
  await api.call('DELETE', `/sandboxes/${second}`)
})

it('goes on looking while an expired sandbox is locked', async () => {
  const repairs = new Repairs(api.ctx.log.sandboxes)
  const id = await create(3600)
  await expireAt(id, '-1 second')
  let reaper: ReturnType<typeof startReaper> | undefined
  await world.database.transaction(async (tx) => {
    await tx.selectFrom('sandbox').select('sandbox_id').where('sandbox_id', '=', id).forUpdate().execute()
    reaper = startReaper({ ...api.ctx.sandboxes, repairs, engineId: api.ctx.engineId })
    expect(await isThere(id)).toBe(true)
  })
  await waitFor('the end of the sandbox', async () => !(await isThere(id)))
  await reaper?.stop()
  await repairs.drain()
})

it('ends a sandbox at an end time that a request has shortened', async () => {
  const other = await world.startServer({ loops: true })
  const id = await create(3600)
  expect(await isThere(id)).toBe(true)
  expect((await api.call('POST', `/sandboxes/${id}/timeout`, { body: { timeout: 0 } })).status).toBe(204)
  await waitFor('the end of the sandbox', async () => !(await isThere(id)))
  await other[Symbol.asyncDispose]()
})
