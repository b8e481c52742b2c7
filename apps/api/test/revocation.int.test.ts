import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'
import { seedParty, type Party } from './support/templates.ts'

let world: World
let api: Server
let leavers: Party
let stayers: Party
beforeAll(async () => {
  world = await createWorld()
  leavers = await seedParty(world, 'Leavers')
  stayers = await seedParty(world, 'Stayers')
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
