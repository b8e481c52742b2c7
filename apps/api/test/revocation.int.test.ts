import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Relay } from '@sandyard/test-kit/relay'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'
import { seedParty, type Party } from './support/templates.ts'

let world: World
let api: Server
let leavers: Party
let stayers: Party
let drifters: Party
beforeAll(async () => {
  world = await createWorld()
  leavers = await seedParty(world, 'Leavers')
  stayers = await seedParty(world, 'Stayers')
  drifters = await seedParty(world, 'Drifters')
  // After all changes, so that no notice of one makes it forget the keys.
  api = await world.startServer({ loops: true })
})
afterAll(() => world[Symbol.asyncDispose]())

const status = async (apiKey: string): Promise<number> => (await api.call('GET', '/v2/sandboxes', { apiKey })).status

/** Whether the database lets in new connections. `alter database` refuses to change that of its own. */
const letIn = (isOpen: boolean) =>
  sql`update pg_database set datallowconn = ${isOpen} where datname = current_database()`.execute(world.database.db)

/** The connections on which servers hear of changes. */
const LISTENERS = sql`from pg_stat_activity where application_name = 'sandyard-api-listen' and datname = current_database()`

it('refuses a deleted key, and accepts the others, while the connection on which it would hear of changes is silently dead', async () => {
  const url = new URL(world.database.url)
  await using relay = new Relay(url)
  const direct = new URL(url)
  direct.port = String(await relay.listen())
  const { apiKey: deleted, teamId } = drifters
  const server = await world.startServer({ loops: true, directUrl: direct.href })
  const ask = async (apiKey: string) => (await server.call('GET', '/v2/sandboxes', { apiKey })).status
  for (const key of [deleted, stayers.apiKey]) expect(await ask(key)).toBe(200)
  const connections = relay.count
  relay.hang()
  await world.database.db.deleteFrom('api_key').where('team_id', '=', teamId).execute()
  await waitFor('the refusal', async () => (await ask(deleted)) === 401)
  expect(await ask(stayers.apiKey)).toBe(200)
  // It has not noticed that the connection is dead.
  expect(relay.count).toBe(connections)
})

it('refuses a deleted key, and accepts the others, while the server hears of no changes', async () => {
  const { db } = world.database
  const { apiKey: deleted, teamId } = leavers
  const { apiKey: kept } = stayers
  // From here on the server remembers both.
  for (const key of [deleted, kept]) expect(await status(key)).toBe(200)
  await letIn(false)
  try {
    await sql`select pg_terminate_backend(pid) ${LISTENERS}`.execute(db)
    await waitFor('the end of the listener', async () => (await sql`select ${LISTENERS}`.execute(db)).rows.length === 0)
    await db.deleteFrom('api_key').where('team_id', '=', teamId).execute()
    await waitFor('the refusal', async () => (await status(deleted)) === 401)
    await waitFor('the other key', async () => (await status(kept)) === 200)
  } finally {
    await letIn(true)
  }
  // Heard again, the server remembers keys again, and forgets them on a notice.
  await waitFor('the listener', async () => (await sql`select ${LISTENERS}`.execute(db)).rows.length === 1)
  expect(await status(kept)).toBe(200)
  await db.deleteFrom('api_key').where('name', '=', 'seeded').where('team_id', '<>', world.teamId).execute()
  await waitFor('the refusal of the other key', async () => (await status(kept)) === 401)
})
