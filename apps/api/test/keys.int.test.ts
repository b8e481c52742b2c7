import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, createWorld, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'
import { seedParty, type Party } from './support/templates.ts'

let world: World
let api: Server
let strangers: Party
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ loops: true })
  strangers = await seedParty(world, 'Strangers')
})
afterAll(() => world[Symbol.asyncDispose]())

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
interface Options {
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

const ours = () => ({ bearer: `Bearer ${world.credentials.accessToken}`, teamId: world.teamId })

/** As a user of a team. */
const asUser = (method: Method, url: string, options: Options = {}, who = ours()) =>
  api.call(method, url, {
    apiKey: null,
    ...options,
    headers: { authorization: who.bearer, 'x-team-id': who.teamId, ...options.headers },
  })
const asAdmin = (method: Method, url: string, { headers, ...options }: Options = {}) =>
  api.call(method, url, { apiKey: null, headers: { 'x-admin-token': ADMIN_TOKEN, ...headers }, ...options })
const create = async (body: object): Promise<Answer['body']> => {
  const answer = await asUser('POST', '/api-keys', { body })
  expect(answer.status, answer.text).toBe(201)
  return answer.body
}
const works = async (apiKey: string): Promise<number> => (await api.call('GET', '/v2/sandboxes', { apiKey })).status
const UNKNOWN = '00000000-0000-4000-8000-000000000000'
const UNKNOWN_KEY =
  'Invalid API key, please visit https://e2b.dev/docs/api-key for more information.\nCannot get the team for the given API key'

describe('API keys of a team', () => {
  it('are created with a raw value that is answered once, in the form that scanners for secrets find [POST /api-keys]', async () => {
    const answer = await asUser('POST', '/api-keys', { body: { name: 'ci' } })
    expect(answer.status).toBe(201)
    expect(answer.headers['cache-control']).toBe('no-store')
    const { key } = answer.body
    expect(key).toMatch(/^e2b_[0-9a-f]{40}$/)
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'ci',
      key,
      mask: { prefix: 'e2b_', valueLength: 40, maskedValuePrefix: key.slice(4, 6), maskedValueSuffix: key.slice(-4) },
      createdAt: expect.stringMatching(/Z$/),
      createdBy: { id: world.userId, email: 'dev@acme.test' },
      lastUsed: null,
    })
    expect(await works(key)).toBe(200)
  })

  it.each([
    [{}],
    [{ name: 1 }],
    [{ name: '' }],
    [{ name: 'x'.repeat(129) }],
    [{ name: 'a\0b' }],
    [{ name: '\ud800' }],
    [{ name: 'x', scope: 'all' }],
    [{ name: 'x', expiresAt: 'soon' }],
    [{ name: 'x', expiresAt: '2020-01-01T00:00:00Z' }],
  ])('are not created from %j', async (body) => {
    const answer = await asUser('POST', '/api-keys', { body })
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ code: 400, message: expect.stringMatching(/^validation error/) })
  })

  it('are created once for each idempotency key, which gives the same raw value to a repeat', async () => {
    const headers = { 'idempotency-key': 'make-one' }
    const answers = await Promise.all([1, 2, 3].map(() => asUser('POST', '/api-keys', { body: { name: 'once' }, headers })))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    const different = await asUser('POST', '/api-keys', { body: { name: 'twice' }, headers })
    expect(different.body).toMatchObject({ code: 422, error_code: 'idempotency_request_mismatch' })
    const rows = await world.database.db.selectFrom('api_key').select('name').where('name', 'in', ['once', 'twice']).execute()
    expect(rows).toEqual([{ name: 'once' }])
    const stored = await world.database.db.selectFrom('remembered_answer').selectAll().execute()
    expect(JSON.stringify(stored)).not.toContain(answers[0]?.body.key.slice(4))
  })

  it('are not remembered for an idempotency key whose create was refused', async () => {
    const headers = { 'idempotency-key': 'second-try' }
    expect((await asUser('POST', '/api-keys', { body: { name: '\0' }, headers })).status).toBe(400)
    expect((await asUser('POST', '/api-keys', { body: { name: 'better' }, headers })).status).toBe(201)
  })

  it('are listed masked, with their creators and their last use, and only those of the team [GET /api-keys]', async () => {
    const { key, ...made } = await create({ name: 'listed' })
    await asUser('POST', '/api-keys', { body: { name: 'theirs' } }, strangers)
    await works(key)
    const find = async () => (await asUser('GET', '/api-keys')).body.find(({ id }: { id: string }) => id === made.id)
    await waitFor('the last use', async () => (await find()).lastUsed !== null)
    const answer = await asUser('GET', '/api-keys')
    expect(answer.text).not.toContain(key.slice(4))
    expect(await find()).toEqual({ ...made, lastUsed: expect.stringMatching(/Z$/) })
    expect(answer.body.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(['listed', 'seeded']))
    expect(answer.text).not.toContain('theirs')
    expect(answer.headers['x-next-token']).toBeUndefined()
    const ofAdmin = await asAdmin('GET', '/api-keys', { headers: { 'x-team-id': world.teamId } })
    expect(ofAdmin.body).toEqual(answer.body)
  })

  it('are listed in pages on request: each key once', async () => {
    for (const name of ['p1', 'p2', 'p3']) await create({ name })
    const all = (await asUser('GET', '/api-keys')).body.map(({ id }: { id: string }) => id)
    const seen: string[] = []
    let token = ''
    do {
      const page = await asUser('GET', `/api-keys?limit=2${token}`)
      expect(page.body.length).toBeLessThanOrEqual(2)
      seen.push(...page.body.map(({ id }: { id: string }) => id))
      const next = page.headers['x-next-token'] as string | undefined
      token = next === undefined ? '' : `&nextToken=${next}`
    } while (token !== '')
    expect(seen).toEqual(all)
    for (const bad of [
      'nextToken=x',
      'limit=0',
      'limit=101',
      `nextToken=${Buffer.from('2020-01-01T00:00:00Z__x').toString('base64url')}`,
    ]) {
      expect((await asUser('GET', `/api-keys?${bad}`)).status).toBe(400)
    }
  })

  it('are renamed with 202 and an empty body [PATCH /api-keys/{apiKeyID}]', async () => {
    const { id } = await create({ name: 'old' })
    const answer = await asUser('PATCH', `/api-keys/${id}`, { body: { name: 'new' } })
    expect([answer.status, answer.text]).toEqual([202, ''])
    const names = (await asUser('GET', '/api-keys')).body.map(({ name }: { name: string }) => name)
    expect(names).toContain('new')
    expect(names).not.toContain('old')
    for (const body of [{}, { name: '' }, { name: '\0' }]) expect((await asUser('PATCH', `/api-keys/${id}`, { body })).status).toBe(400)
  })

  it('stop working at once when they are deleted [DELETE /api-keys/{apiKeyID}]', async () => {
    const { id, key } = await create({ name: 'gone' })
    expect(await works(key)).toBe(200)
    const answer = await asUser('DELETE', `/api-keys/${id.toUpperCase()}`)
    expect([answer.status, answer.text]).toEqual([204, ''])
    await waitFor('the refusal', async () => (await works(key)) === 401)
    expect((await asUser('DELETE', `/api-keys/${id}`)).status).toBe(404)
  })

  it.each<Method>(['PATCH', 'DELETE'])('are not found by %s with an unknown id, or by another team', async (method) => {
    const { id } = await create({ name: 'ours' })
    const options = method === 'PATCH' ? { body: { name: 'x' } } : {}
    const answers = [await asUser(method, `/api-keys/${UNKNOWN}`, options), await asUser(method, `/api-keys/${id}`, options, strangers)]
    for (const { status, text, headers } of answers) {
      expect([status, text, headers['content-type']]).toEqual([404, 'id not found', 'text/plain; charset=utf-8'])
    }
    expect((await asUser('GET', '/api-keys')).text).toContain(id)
    const malformed = [
      ['x', 'invalid UUID length: 1'],
      ['00000000-0000-4000-8000-00000000000g', 'invalid UUID format'],
      ['%00', 'invalid UUID length: 1'],
    ] as const
    for (const [text, detail] of malformed) {
      const { status, body } = await asUser(method, `/api-keys/${text}`, options)
      expect([status, body.message]).toEqual([400, `Error when parsing API key ID: ${detail}`])
    }
  })

  it('end by themselves, also when a server knows them', async () => {
    const { key, id, expiresAt } = await create({ name: 'short', expiresAt: new Date(Date.now() + 3_600_000).toISOString() })
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now())
    expect(await works(key)).toBe(200)
    // The change notifies servers; the last one has the new end in its cache.
    const end = new Date(Date.now() + 1000)
    await world.database.db.updateTable('api_key').set({ expires_at: end }).where('id', '=', id).execute()
    await waitFor('the end', async () => (await works(key)) === 401)
    expect(Date.now()).toBeGreaterThanOrEqual(end.getTime())
    expect((await api.call('GET', '/v2/sandboxes', { apiKey: key })).body).toEqual({ code: 401, message: UNKNOWN_KEY })
  })

  it('may be read and deleted while the team is blocked, and not created or renamed', async () => {
    const { id } = await create({ name: 'blocked' })
    const block = (is_blocked: boolean) =>
      world.database.db.updateTable('team').set({ is_blocked }).where('id', '=', world.teamId).execute()
    await block(true)
    try {
      expect((await asUser('POST', '/api-keys', { body: { name: 'x' } })).body).toEqual({ code: 403, message: 'team is blocked' })
      expect((await asUser('PATCH', `/api-keys/${id}`, { body: { name: 'x' } })).status).toBe(403)
      expect((await asUser('GET', '/api-keys')).status).toBe(200)
      expect((await asUser('DELETE', `/api-keys/${id}`)).status).toBe(204)
    } finally {
      await block(false)
    }
  })
})

describe('API keys of any team, for administrators', () => {
  const path = (teamId = world.teamId) => `/admin/teams/${teamId}/api-keys`

  it('are created without a creator, and work [POST /admin/teams/{teamID}/api-keys]', async () => {
    const answer = await asAdmin('POST', path(), { body: { name: 'given' } })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({ name: 'given', createdBy: null, key: expect.stringMatching(/^e2b_[0-9a-f]{40}$/) })
    expect(await works(answer.body.key)).toBe(200)
  })

  it('leave records of their creation and deletion, with their ids and without their values', async () => {
    const { id, key } = (await asAdmin('POST', path(), { body: { name: 'recorded' } })).body
    await asAdmin('DELETE', `${path()}/${id}`)
    const rows = await world.database.db
      .selectFrom('audit')
      .selectAll()
      .where('operation', 'in', ['createTeamApiKey', 'deleteTeamApiKey'])
      .where('team_id', '=', world.teamId)
      .orderBy('audit_id', 'desc')
      .limit(2)
      .execute()
    expect(rows.map(({ operation, targets }) => [operation, targets])).toEqual([
      ['deleteTeamApiKey', { teamID: world.teamId, apiKeyID: id }],
      ['createTeamApiKey', { teamID: world.teamId, apiKeyID: id, name: 'recorded' }],
    ])
    expect(JSON.stringify(rows)).not.toContain(key.slice(4))
  })

  it('are not created for a banned, blocked or unknown team', async () => {
    const { db } = world.database
    const set = (values: { is_banned?: boolean; is_blocked?: boolean; blocked_reason?: string }) =>
      db.updateTable('team').set(values).where('id', '=', strangers.teamId).execute()
    const refusal = async () => (await asAdmin('POST', path(strangers.teamId), { body: { name: 'x' } })).body
    await set({ is_banned: true })
    expect(await refusal()).toEqual({ code: 403, message: 'team is banned' })
    await set({ is_banned: false, is_blocked: true, blocked_reason: 'unpaid' })
    expect(await refusal()).toEqual({ code: 403, message: 'team is blocked: unpaid' })
    await set({ is_blocked: false })
    expect((await asAdmin('POST', path(UNKNOWN), { body: { name: 'x' } })).body).toEqual({ code: 404, message: 'Team not found' })
    expect((await asAdmin('POST', path('x'), { body: { name: 'x' } })).status).toBe(400)
    expect((await asAdmin('POST', path(), { body: {} })).status).toBe(400)
  })

  it('are listed as their team lists them [GET /admin/teams/{teamID}/api-keys]', async () => {
    const answer = await asAdmin('GET', path())
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual((await asUser('GET', '/api-keys')).body)
    expect((await asAdmin('GET', `${path()}?limit=1`)).headers['x-next-token']).toEqual(expect.any(String))
    expect((await asAdmin('GET', path(UNKNOWN))).body).toEqual({ code: 404, message: 'Team not found' })
    expect((await asAdmin('GET', path('x'))).status).toBe(400)
  })

  it('are deleted, only as those of their team [DELETE /admin/teams/{teamID}/api-keys/{apiKeyID}]', async () => {
    const { id } = await create({ name: 'taken' })
    const missing = { code: 404, message: 'API key not found' }
    expect((await asAdmin('DELETE', `${path(strangers.teamId)}/${id}`)).body).toEqual(missing)
    expect((await asAdmin('DELETE', `${path()}/x`)).status).toBe(400)
    expect((await asAdmin('DELETE', `${path('x')}/${id}`)).status).toBe(400)
    expect((await asAdmin('DELETE', `${path()}/${id}`)).status).toBe(204)
    expect((await asAdmin('DELETE', `${path()}/${id}`)).body).toEqual(missing)
  })
})
