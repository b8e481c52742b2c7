import { once } from 'node:events'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { FileServices } from '../src/volumes/content/file-services.ts'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server

beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ capabilities: { mounts: true } })
})
afterAll(() => world[Symbol.asyncDispose]())

it('a volume counts against the caps during a transfer, however long it takes, and for two minutes after it', async () => {
  for (const name of ['one', 'two', 'three']) await world.engine.volumes.create(`fake/${name}`)
  const clock = { now: 0 }
  const caps = { perTeam: 1, inAll: 2, requestsPerTeam: 10 }
  const { tokenSeed } = api.ctx.installation
  const services = new FileServices({ runtime: api.runtime, tokenSeed, caps, now: () => clock.now })
  const full = { kind: 'resource_exhausted' }
  const transfer = await services.connect('one', 'team')
  clock.now = 3_600_000
  await expect(services.connect('two', 'team')).rejects.toMatchObject(full)
  const foreign = await services.connect('three', 'other')
  const ends = [once(transfer, 'close'), once(foreign, 'close')]
  transfer.destroy()
  foreign.destroy()
  await Promise.all(ends)
  clock.now += 119_999
  await expect(services.connect('two', 'team')).rejects.toMatchObject(full)
  clock.now += 1
  const next = await services.connect('two', 'team')
  next.destroy()
})

it('a file that was stored is answered with 201 although its bytes could not be counted', async () => {
  const origin = await api.app.listen({ host: '127.0.0.1', port: 0 })
  const { volumeID, token } = (await api.call('POST', '/volumes', { body: { name: 'uncounted' } })).body
  const url = `${origin}/volumecontent/${volumeID}/file?path=/f`
  const headers = { authorization: `Bearer ${token}` }
  const hold = await world.database.db.startTransaction().execute()
  try {
    // A lock that the count waits for, until its statement is too late or ended here.
    await hold.selectFrom('volume').select('volume_id').where('volume_id', '=', volumeID).forUpdate().execute()
    const putting = fetch(url, { method: 'PUT', headers, body: 'stored' })
    await waitFor('the count to be ended', async () => {
      const ended = await endCounts()
      return ended > 0
    })
    expect((await putting).status).toBe(201)
  } finally {
    await hold.rollback().execute()
  }
  expect(await (await fetch(url, { headers })).text()).toBe('stored')
})

/** Ends the statements that wait to count. */
async function endCounts(): Promise<number> {
  const { rows } = await sql`
    select pg_cancel_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like 'update "volume" set "size_bytes"%'
  `.execute(world.database.db)
  return rows.length
}
