import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { forgetEndedCredentials } from '../src/credentials/forget-ended-credentials.ts'
import { addCaller, type Caller } from './support/build-callers.ts'
import { ADMIN_TOKEN, createWorld, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
})
afterAll(() => world[Symbol.asyncDispose]())

/** So many keys of a team, or tokens of a user, in one statement. */
async function fill(table: 'api_key' | 'access_token', owner: string, count: number, expiresAt: Date | null = null): Promise<void> {
  await sql`
    insert into ${sql.table(table)} (${sql.ref(table === 'api_key' ? 'team_id' : 'user_id')}, name, hash, prefix, value_length,
      masked_value_prefix, masked_value_suffix, expires_at)
    select ${owner}::uuid, 'filled', gen_random_uuid()::text, 'e2b_', 40, 'aa', 'bbbb', ${expiresAt} from generate_series(1, ${count}::int)
  `.execute(world.database.db)
}

const count = async (table: 'api_key' | 'access_token', column: string, owner: string): Promise<number> => {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from ${sql.table(table)} where ${sql.ref(column)} = ${owner}
  `.execute(world.database.db)
  return rows[0]?.n ?? 0
}

const newKey = (caller: Caller) => caller.withToken('POST', '/api-keys', { name: 'one more' }, { 'x-team-id': caller.teamId })

it('a team has at most 1,000 API keys, however they are made, and others are not affected', async () => {
  const [caller, other] = [await addCaller(world, api, 'Keys'), await addCaller(world, api, 'Neighbour')]
  // It has a seeded one.
  await fill('api_key', caller.teamId, 998)
  const both = await Promise.all([newKey(caller), newKey(caller)])
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 429])
  const message = "The team 'keys' has 1000 API keys, and there cannot be more: delete some"
  const headers = { 'x-admin-token': ADMIN_TOKEN }
  const refusals = [
    await newKey(caller),
    await caller.withToken('GET', '/teams'),
    await api.call('POST', `/admin/teams/${caller.teamId}/api-keys`, { apiKey: null, headers, body: { name: 'x' } }),
  ]
  expect(refusals.map(({ body }) => body)).toEqual(refusals.map(() => ({ code: 429, message })))
  expect(await count('api_key', 'team_id', caller.teamId)).toBe(1000)
  expect([(await newKey(other)).status, (await other.withToken('GET', '/teams')).status]).toEqual([201, 200])
  const { id } = both.find(({ status }) => status === 201)?.body ?? {}
  expect((await caller.withToken('DELETE', `/api-keys/${id}`, undefined, { 'x-team-id': caller.teamId })).status).toBe(204)
  expect((await newKey(caller)).status).toBe(201)
})

it('a user has at most 1,000 access tokens, and others are not affected', async () => {
  const [caller, other] = [await addCaller(world, api, 'Tokens'), await addCaller(world, api, 'Beside')]
  await fill('access_token', caller.userId, 998)
  const make = (who: Caller) => who.withToken('POST', '/access-tokens', { name: 'one more' })
  expect((await Promise.all([make(caller), make(caller)])).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 429])
  expect((await make(caller)).body).toEqual({ code: 429, message: 'You have 1000 access tokens, and there cannot be more: delete some' })
  expect(await count('access_token', 'user_id', caller.userId)).toBe(1000)
  expect((await make(other)).status).toBe(201)
})

it('keys and tokens are deleted seven days after their end, and not before', async () => {
  const { teamId, userId } = await addCaller(world, api, 'Ended')
  const day = 24 * 3_600_000
  for (const [table, owner] of [
    ['api_key', teamId],
    ['access_token', userId],
  ] as const) {
    await fill(table, owner, 1500, new Date(Date.now() - 7.1 * day))
    await fill(table, owner, 2, new Date(Date.now() - 6.9 * day))
    await fill(table, owner, 3, new Date(Date.now() + day))
  }
  await forgetEndedCredentials(world.database.db)
  // With the seeded ones.
  expect([await count('api_key', 'team_id', teamId), await count('access_token', 'user_id', userId)]).toEqual([6, 6])
})

it('nothing tells servers to forget their credentials when none has ended', async () => {
  const { db } = world.database
  const counter = sql`create table told (n int); create function tell() returns trigger language plpgsql as
    'begin insert into told values (1); return null; end'; create trigger tell after delete on api_key for each statement execute function tell()`
  await counter.execute(db)
  await forgetEndedCredentials(db)
  expect((await sql`select from told`.execute(db)).rows).toHaveLength(0)
  await fill('api_key', world.teamId, 1, new Date(0))
  await forgetEndedCredentials(db)
  expect((await sql`select from told`.execute(db)).rows).toHaveLength(1)
})
