import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorld, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'
import { seedParty } from './support/templates.ts'

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ loops: true })
})
afterAll(() => world[Symbol.asyncDispose]())

const call = (
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  token: string,
  options: { body?: unknown; headers?: Record<string, string> } = {},
) => api.call(method, url, { apiKey: null, ...options, headers: { authorization: `Bearer ${token}`, ...options.headers } })
const works = async (token: string): Promise<number> => (await call('GET', '/templates', token)).status

it('creates a token that works and is answered once [POST /access-tokens]', async () => {
  const answer = await call('POST', '/access-tokens', world.credentials.accessToken, { body: { name: 'laptop' } })
  expect(answer.status).toBe(201)
  expect(answer.headers['cache-control']).toBe('no-store')
  const { token } = answer.body
  expect(token).toMatch(/^sk_e2b_[0-9a-f]{40}$/)
  expect(answer.body).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: 'laptop',
    token,
    mask: { prefix: 'sk_e2b_', valueLength: 40, maskedValuePrefix: token.slice(7, 9), maskedValueSuffix: token.slice(-4) },
    createdAt: expect.stringMatching(/Z$/),
  })
  expect(await works(token)).toBe(200)
  for (const body of [{}, { name: '' }, { name: '\0' }, { name: 'x', expiresAt: '2020-01-01T00:00:00Z' }]) {
    expect((await call('POST', '/access-tokens', world.credentials.accessToken, { body })).status).toBe(400)
  }
})

it('creates one token for each idempotency key', async () => {
  const once = { body: { name: 'once' }, headers: { 'idempotency-key': 'token-1' } }
  const first = await call('POST', '/access-tokens', world.credentials.accessToken, once)
  const second = await call('POST', '/access-tokens', world.credentials.accessToken, once)
  expect([first.status, second.text]).toEqual([201, first.text])
  const stranger = await seedParty(world, 'Others')
  const theirs = await call('POST', '/access-tokens', stranger.bearer.slice('Bearer '.length), once)
  expect([theirs.status, theirs.body.token === first.body.token]).toEqual([201, false])
})

it('deletes a token of the user, which is refused at once, and no other one [DELETE /access-tokens/{accessTokenID}]', async () => {
  const { id, token } = (await call('POST', '/access-tokens', world.credentials.accessToken, { body: { name: 'lost' } })).body
  expect(await works(token)).toBe(200)
  const stranger = await seedParty(world, 'Strangers')
  const refused = await call('DELETE', `/access-tokens/${id}`, stranger.bearer.slice('Bearer '.length))
  expect([refused.status, refused.text, refused.headers['content-type']]).toEqual([404, 'id not found', 'text/plain; charset=utf-8'])
  expect((await call('DELETE', '/access-tokens/x', token)).body.message).toBe('Error when parsing access token ID: invalid UUID length: 1')
  expect((await call('DELETE', `/access-tokens/${id}`, world.credentials.accessToken)).status).toBe(204)
  await waitFor('the refusal', async () => (await works(token)) === 401)
  expect((await call('DELETE', `/access-tokens/${id}`, world.credentials.accessToken)).status).toBe(404)
})

it('refuses a token after its end', async () => {
  const expiresAt = new Date(Date.now() + 1000).toISOString()
  const { token } = (await call('POST', '/access-tokens', world.credentials.accessToken, { body: { name: 'brief', expiresAt } })).body
  await waitFor('the end', async () => (await works(token)) === 401)
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt))
})

it('makes no credential that outlives it', async () => {
  const expiresAt = new Date(Date.now() + 3_600_000)
  const { token } = (await call('POST', '/access-tokens', world.credentials.accessToken, { body: { name: 'hour', expiresAt } })).body
  const later = new Date(expiresAt.getTime() + 1000)
  for (const asked of [undefined, later]) {
    const body = { name: 'made', ...(asked !== undefined && { expiresAt: asked }) }
    expect((await call('POST', '/access-tokens', token, { body })).status).toBe(201)
    expect((await call('POST', '/api-keys', token, { body, headers: { 'x-team-id': world.teamId } })).status).toBe(201)
  }
  expect((await call('GET', '/teams', token)).status).toBe(200)
  const { db } = world.database
  const named = { tokens: ['made'], keys: ['made', 'CLI login/configure'] }
  const tokens = await db.selectFrom('access_token').select('expires_at').where('name', 'in', named.tokens).execute()
  const keys = await db.selectFrom('api_key').select('expires_at').where('name', 'in', named.keys).execute()
  expect([tokens.length, keys.length]).toEqual([2, 3])
  expect([...tokens, ...keys].map(({ expires_at }) => expires_at)).toEqual(Array.from({ length: 5 }, () => expiresAt))
})

it('gets no answer of an idempotency key whose credential has another end', async () => {
  const { accessToken } = world.credentials
  const expiresAt = new Date(Date.now() + 3_600_000)
  const { token: ending } = (await call('POST', '/access-tokens', accessToken, { body: { name: 'ending', expiresAt } })).body
  for (const [path, key] of [
    ['/access-tokens', 'repeated-1'],
    ['/api-keys', 'repeated-2'],
  ] as const) {
    const once = { body: { name: 'repeated' }, headers: { 'idempotency-key': key, 'x-team-id': world.teamId } }
    const first = await call('POST', path, accessToken, once)
    expect([path, first.status, first.body.expiresAt]).toEqual([path, 201, undefined])
    expect((await call('POST', path, ending, once)).body).toMatchObject({ code: 422, error_code: 'idempotency_request_mismatch' })
    expect((await call('POST', path, accessToken, once)).text).toBe(first.text)
  }
})

it('acts for the team in the header on operations of users and teams, and for none that it may not [GET /v2/templates]', async () => {
  const { db } = world.database
  const second = await db
    .insertInto('team')
    .values({ name: 'Second', slug: 'second', email: 's@x.test' })
    .returning('id')
    .executeTakeFirstOrThrow()
  await db.insertInto('team_member').values({ team_id: second.id, user_id: world.userId }).execute()
  const { token } = (await call('POST', '/access-tokens', world.credentials.accessToken, { body: { name: 'both' } })).body
  const list = (teamId: string): Promise<Answer> => call('GET', '/v2/templates', token, { headers: { 'x-team-id': teamId } })
  expect((await list(second.id)).body).toEqual([])
  expect((await list(world.teamId)).body.length).toBeGreaterThan(0)
  const foreign = await db
    .insertInto('team')
    .values({ name: 'F', slug: 'foreign', email: 'f@x.test' })
    .returning('id')
    .executeTakeFirstOrThrow()
  for (const id of [foreign.id, 'x']) expect((await list(id)).status).toBe(401)
})

it('issues no tokens where the operator has turned it off, and accepts those that exist', async () => {
  const closed = await world.startServer({ env: { SANDYARD_ISSUE_ACCESS_TOKENS: 'false' } })
  const headers = { authorization: `Bearer ${world.credentials.accessToken}` }
  const answer = await closed.call('POST', '/access-tokens', { apiKey: null, headers, body: { name: 'x' } })
  expect(answer.body).toEqual({ code: 410, message: 'This server issues no access tokens' })
  expect((await closed.call('GET', '/templates', { apiKey: null, headers })).status).toBe(200)
})
