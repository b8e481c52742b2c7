import { OPERATIONS } from '@sandyard/api-contract/operations'
import { seedIdentity } from '@sandyard/api/seed/seed-identity'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, createWorld, waitFor, type Server, type World } from './support/control-plane.ts'

const INVALID_KEY = 'Invalid API key, please visit https://e2b.dev/docs/api-key for more information.'
const INVALID_TOKEN = 'Invalid Access token, try to login again by running `e2b auth login`.'
const INVALID_PROVIDER = 'Invalid auth provider token.\nBackend authentication failed'
const INVALID_ADMIN = 'Invalid Access token.\nInvalid Access token.'
const MISSING = 'authorization header is missing'
const MALFORMED = 'authorization header is malformed'
const INVALID_TEAM = 'Invalid auth provider token teamID.'
const ZEROS = '0'.repeat(40)

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ loops: true })
})
afterAll(() => world[Symbol.asyncDispose]())

type Headers = Record<string, string>

/** Credentials by name; each set lists the ones that it lets in. */
const credentials = (): Record<string, Headers> => ({
  'API key': { 'x-api-key': world.credentials.apiKey },
  'access token': { authorization: `Bearer ${world.credentials.accessToken}` },
  'access token with team': { authorization: `Bearer ${world.credentials.accessToken}`, 'x-team-id': world.teamId },
  'admin token': { 'x-admin-token': ADMIN_TOKEN },
  'admin token with team': { 'x-admin-token': ADMIN_TOKEN, 'x-team-id': world.teamId },
})

const ACCEPTED: Record<string, readonly string[]> = {
  none: ['API key', 'access token', 'access token with team', 'admin token', 'admin token with team', 'nothing'],
  T: ['API key', 'access token with team', 'admin token with team'],
  TU: ['API key', 'access token', 'access token with team', 'admin token with team'],
  U: ['access token', 'access token with team'],
  G: ['access token', 'access token with team'],
  K: ['access token with team', 'admin token with team'],
  P: ['access token', 'access token with team'],
  PT: ['access token with team'],
  A: ['admin token', 'admin token with team'],
}

/** The content of volumes has tokens of its own: volume-content.int.test.ts. */
const GUARDED = OPERATIONS.filter(({ tag }) => tag !== 'volume content')

describe('every operation accepts exactly the credentials of its set', () => {
  it.each(GUARDED.map((operation) => [operation.method, operation.path, operation.auth] as const))(
    '%s %s (%s)',
    async (method, path, set) => {
      const url = path.replaceAll(/\{[^}]+\}/g, 'i0')
      for (const [name, headers] of Object.entries({ ...credentials(), nothing: {} })) {
        // A body that no operation accepts: those who are let in get past it to 400 or an answer, the others never.
        const answer = await api.call(method, url, {
          apiKey: null,
          headers: { 'content-type': 'application/json', ...headers },
          body: '{"',
        })
        const isLetIn = answer.status !== 401 && !String(answer.body?.message).startsWith('Invalid admin token')
        expect([name, isLetIn], answer.text).toEqual([name, ACCEPTED[set]?.includes(name)])
        if (name === 'nothing' && set !== 'none') expect(answer.body).toEqual({ code: 401, message: MISSING })
      }
    },
  )
})

describe('refused credentials', () => {
  it.each<[string, string, Headers, number, string]>([
    ['T', 'nothing', {}, 401, MISSING],
    ['T', 'empty', { 'x-api-key': '' }, 401, MISSING],
    ['T', 'prefix', { 'x-api-key': 'nonsense' }, 401, MALFORMED],
    ['T', 'not hex', { 'x-api-key': 'e2b_nonsense' }, 401, `${INVALID_KEY}\nInvalid API key format`],
    ['T', 'length', { 'x-api-key': 'e2b_00' }, 401, `${INVALID_KEY}\nInvalid API key format`],
    ['T', 'unknown', { 'x-api-key': `e2b_${ZEROS}` }, 401, `${INVALID_KEY}\nCannot get the team for the given API key`],
    ['T', 'bearer of no provider', { authorization: 'Bearer a.b.c' }, 401, INVALID_PROVIDER],
    ['T', 'no bearer', { authorization: 'Basic dTpw' }, 401, MALFORMED],
    ['T', 'two, the key first', { 'x-api-key': 'nonsense', authorization: 'Bearer a.b.c' }, 401, MALFORMED],
    ['T', 'admin token', { 'x-admin-token': 'wrong' }, 401, INVALID_ADMIN],
    ['T', 'admin without team', { 'x-admin-token': ADMIN_TOKEN }, 400, 'Invalid admin token teamID.\nInvalid team ID'],
    ['T', 'admin with no UUID', { 'x-admin-token': ADMIN_TOKEN, 'x-team-id': 'x' }, 400, 'Invalid admin token teamID.\nInvalid team ID'],
    [
      'T',
      'admin with unknown team',
      { 'x-admin-token': ADMIN_TOKEN, 'x-team-id': '00000000-0000-4000-8000-000000000000' },
      404,
      'Invalid admin token teamID.\nTeam not found',
    ],
    ['U', 'prefix', { authorization: 'Bearer nonsense' }, 401, MALFORMED],
    ['U', 'no bearer', { authorization: 'Basic dTpw' }, 401, MALFORMED],
    ['T', 'bearer without team', { authorization: 'ours' }, 401, `${INVALID_TEAM}\nInvalid team ID`],
    ['T', 'bearer with no UUID', { authorization: 'ours', 'x-team-id': 'x' }, 401, `${INVALID_TEAM}\nInvalid team ID`],
    [
      'T',
      'unknown bearer',
      { authorization: `Bearer sk_e2b_${ZEROS}` },
      401,
      `${INVALID_TOKEN}\nCannot get the user for the given access token`,
    ],
    ['TU', 'prefix', { authorization: 'Bearer nonsense' }, 401, MALFORMED],
    ['TU', 'provider', { authorization: 'Bearer a.b.c' }, 401, INVALID_PROVIDER],
    ['U', 'provider', { authorization: 'Bearer a.b.c' }, 401, INVALID_PROVIDER],
    ['G', 'provider', { authorization: 'Bearer a.b.c' }, 401, INVALID_PROVIDER],
    ['U', 'not hex', { authorization: 'Bearer sk_e2b_nonsense' }, 401, `${INVALID_TOKEN}\nInvalid access token format`],
    ['U', 'unknown', { authorization: `Bearer sk_e2b_${ZEROS}` }, 401, `${INVALID_TOKEN}\nCannot get the user for the given access token`],
    ['U', 'API key', { 'x-api-key': `e2b_${ZEROS}` }, 401, MISSING],
    ['P', 'provider', { authorization: 'Bearer a.b.c' }, 401, INVALID_PROVIDER],
    ['A', 'wrong', { 'x-admin-token': 'wrong' }, 401, INVALID_ADMIN],
  ])('%s: %s', async (set, _name, headers, code, message) => {
    const routes: Record<string, ['GET' | 'POST', string]> = {
      T: ['GET', '/v2/sandboxes'],
      TU: ['GET', '/templates'],
      U: ['POST', '/templates/x'],
      G: ['GET', '/teams'],
      P: ['POST', '/access-tokens'],
      A: ['GET', '/nodes'],
    }
    const [method, url] = routes[set] ?? ['GET', '/']
    const own = headers['authorization'] === 'ours' ? { authorization: `Bearer ${world.credentials.accessToken}` } : {}
    const answer = await api.call(method, url, { apiKey: null, headers: { ...headers, ...own } })
    expect(answer.body).toEqual({ code, message })
    expect(answer.status).toBe(code)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  })

  it('names the team header when the user is not a member', async () => {
    const other = await seedIdentity(world.database, { teamName: 'Strangers', email: 'stranger@acme.test' })
    const headers = { authorization: `Bearer ${world.credentials.accessToken}`, 'x-team-id': other.teamId }
    const answer = await api.call('POST', '/api-keys', { apiKey: null, headers })
    expect(answer.status).toBe(401)
    expect(answer.body.message).toMatch(/^Invalid auth provider token teamID\.\n/)
  })

  it('refuses every admin token when none is configured', async () => {
    const server = await world.startServer({ env: { SANDYARD_ADMIN_TOKEN: '' } })
    const answer = await server.call('GET', '/nodes', { apiKey: null, headers: { 'x-admin-token': ADMIN_TOKEN } })
    expect(answer.body).toEqual({ code: 401, message: INVALID_ADMIN })
  })
})

describe('teams', () => {
  const setTeam = (values: { is_banned?: boolean; is_blocked?: boolean; blocked_reason?: string | null }) =>
    world.database.db.updateTable('team').set(values).where('id', '=', world.teamId).execute()
  const message = async (method: 'GET' | 'POST', url: string, body?: object): Promise<[number, string]> => {
    const answer = await api.call(method, url, body === undefined ? {} : { body })
    return [answer.status, answer.body?.message]
  }

  it('that are banned are refused by every operation at once, and accepted after the ban', async () => {
    await setTeam({ is_banned: true })
    await waitFor('the ban', async () => (await api.call('GET', '/v2/sandboxes')).status === 403)
    expect(await message('GET', '/v2/sandboxes')).toEqual([403, 'team is banned'])
    expect(await message('GET', '/volumes')).toEqual([403, 'team is banned'])
    await setTeam({ is_banned: false })
    await waitFor('the end of the ban', async () => (await api.call('GET', '/v2/sandboxes')).status === 200)
  })

  it('that are blocked may read, and are refused otherwise before any look-up', async () => {
    await setTeam({ is_blocked: true, blocked_reason: 'unpaid' })
    await waitFor('the block', async () => (await api.call('POST', '/sandboxes/i0/refreshes')).status === 403)
    expect(await message('POST', '/sandboxes/i0/timeout', { timeout: 1 })).toEqual([403, 'team is blocked: unpaid'])
    expect((await message('POST', '/sandboxes/i0/timeout', {}))[0]).toBe(400)
    expect((await message('GET', '/sandboxes/i0'))[0]).toBe(404)
    await setTeam({ is_blocked: true, blocked_reason: null })
    await waitFor('the change', async () => (await message('POST', '/v2/templates', { alias: 'a' }))[1] === 'team is blocked')
    await setTeam({ is_blocked: false })
    await waitFor('the end of the block', async () => (await api.call('POST', '/sandboxes/i0/refreshes')).status === 404)
  })
})

describe('keys', () => {
  it('are stored hashed, and their last use is written once', async () => {
    const rows = await world.database.db.selectFrom('api_key').selectAll().where('team_id', '=', world.teamId).execute()
    expect(JSON.stringify(rows)).not.toContain(world.credentials.apiKey.slice(4))
    expect(rows[0]?.hash).toMatch(/^\$sha256\$[A-Za-z0-9+/]{43}$/)
    await api.call('GET', '/v2/sandboxes')
    const lastUsed = async () =>
      (await world.database.db.selectFrom('api_key').select('last_used_at').where('team_id', '=', world.teamId).executeTakeFirst())
        ?.last_used_at
    await waitFor('the last use', async () => (await lastUsed()) instanceof Date)
    const first = await lastUsed()
    await api.call('GET', '/v2/sandboxes')
    expect(await lastUsed()).toEqual(first)
  })

  it('that are deleted stop working at once, on every server', async () => {
    const { teamId, credentials: seeded } = await seedIdentity(world.database, { teamName: 'Leavers', email: 'leaver@acme.test' })
    const other = await world.startServer({ loops: true })
    const apiKey = seeded?.apiKey ?? ''
    for (const server of [api, other]) expect((await server.call('GET', '/v2/sandboxes', { apiKey })).status).toBe(200)
    await world.database.db.deleteFrom('api_key').where('team_id', '=', teamId).execute()
    for (const server of [api, other]) {
      await waitFor('the end of the key', async () => (await server.call('GET', '/v2/sandboxes', { apiKey })).status === 401)
    }
  })
})

it('never takes the value of a credential of one kind for one of the other, also when a server has just accepted it', async () => {
  const ours = { authorization: `Bearer ${world.credentials.accessToken}`, 'x-team-id': world.teamId }
  const { body: limited } = await api.call('POST', '/api-keys', { apiKey: null, headers: ours, body: { name: 'limited', scope: 'read' } })
  for (const key of [world.credentials.apiKey, limited.key as string]) {
    expect((await api.call('GET', '/v2/sandboxes', { apiKey: key })).status).toBe(200)
    const disguised = { authorization: `Bearer sk_${key}` }
    for (const [method, path] of [
      ['GET', '/teams'],
      ['POST', '/access-tokens'],
      ['POST', '/api-keys'],
    ] as const) {
      const headers = { ...disguised, 'x-team-id': world.teamId }
      const { status, body } = await api.call(method, path, { apiKey: null, headers, ...(method === 'POST' && { body: { name: 'x' } }) })
      expect([path, status, body.message]).toEqual([path, 401, `${INVALID_TOKEN}\nCannot get the user for the given access token`])
    }
  }
  const { accessToken } = world.credentials
  expect((await api.call('GET', '/templates', { apiKey: null, headers: { authorization: `Bearer ${accessToken}` } })).status).toBe(200)
  const asKey = await api.call('GET', '/v2/sandboxes', { apiKey: accessToken.slice('sk_'.length) })
  expect([asKey.status, asKey.body.message]).toEqual([401, `${INVALID_KEY}\nCannot get the team for the given API key`])
})
