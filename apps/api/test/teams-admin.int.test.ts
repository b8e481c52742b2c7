import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asAdmin } from './support/admin-calls.ts'
import { addCaller, type Caller } from './support/build-callers.ts'
import { createWorld, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'

let world: World
/** Two servers, which hear of changes. */
let api: Server
let other: Server
let admin: ReturnType<typeof asAdmin>
let count = 0

beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ loops: true })
  other = await world.startServer({ loops: true })
  admin = asAdmin(api)
})
afterAll(() => world[Symbol.asyncDispose]())

const unique = (name: string): string => `${name} ${(count += 1)}`
const makeTeam = async (name = unique('Team')): Promise<Answer['body']> =>
  (await admin('POST', '/admin/teams', { name, email: 'team@example.test' })).body
const makeUser = async (): Promise<string> =>
  (await admin('POST', '/admin/users', { email: `${unique('user').replace(' ', '-')}@example.test` })).body.userID
const join = (teamID: string, userID: string, body?: object): Promise<Answer> =>
  admin('PUT', `/admin/teams/${teamID}/members/${userID}`, body)

const NO_TEAM = { code: 404, message: 'Team not found' }

describe('teams', () => {
  it('are created with a slug of their name, and shown [POST /admin/teams] [GET /admin/teams/{teamID}]', async () => {
    const { status, body } = await admin('POST', '/admin/teams', { name: 'Müller & Söhne', email: 'a@b.test' })
    expect([status, body]).toEqual([
      201,
      {
        teamID: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'Müller & Söhne',
        slug: 'muller-sohne',
        email: 'a@b.test',
        isBanned: false,
        isBlocked: false,
        blockedReason: null,
        createdAt: expect.stringMatching(/Z$/),
        limits: {},
        effectiveLimits: {
          concurrentSandboxes: api.ctx.config.limits.concurrentSandboxes,
          maxPausedSandboxes: 1000,
          maxLifetimeSeconds: 86_400,
          maxSnapshots: 10_000,
          maxTemplates: 1000,
          concurrentBuilds: 20,
          maxCpuCount: 8,
          maxMemoryMB: 8096,
          maxDiskMB: 35_240,
        },
      },
    ])
    expect((await admin('GET', `/admin/teams/${body.teamID.toUpperCase()}`)).body).toEqual(body)
    expect((await admin('POST', '/admin/teams', { name: 'Muller Sohne', email: 'a@b.test' })).body).toEqual({
      code: 409,
      message: "A team with the slug 'muller-sohne' exists",
    })
    const given = await admin('POST', '/admin/teams', { name: 'Muller Sohne', email: 'a@b.test', slug: 'second' })
    expect([given.status, given.body.slug]).toEqual([201, 'second'])
  })

  it('are created once for an idempotency key', async () => {
    const headers = { 'idempotency-key': 'once' }
    const body = { name: unique('Once'), email: 'a@b.test' }
    const answers = await Promise.all([0, 1, 2].map(() => admin('POST', '/admin/teams', body, headers)))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
    expect(new Set(answers.map((answer) => answer.body.teamID)).size).toBe(1)
    expect((await admin('POST', '/admin/teams', { ...body, name: 'Other' }, headers)).status).toBe(422)
  })

  it.each([
    [{ name: '', email: 'a@b.test' }],
    [{ name: 'x'.repeat(129), email: 'a@b.test' }],
    [{ name: 'a\0b', email: 'a@b.test' }],
    [{ name: 'fine', email: 'none' }],
    [{ name: 'fine', email: 'a\0@b.test' }],
    [{ name: 'fine', email: 'a@b.test', slug: 'Not fine' }],
    [{ name: 'fine' }],
    [{ email: 'a@b.test' }],
  ])('are not created from %o', async (body) => {
    const answer = await admin('POST', '/admin/teams', body)
    expect([answer.status, answer.body.code]).toEqual([400, 400])
  })

  it('are listed in pages, the newest first, and found by a text [GET /admin/teams]', async () => {
    const made = []
    for (const name of ['List a_b', 'List axb', 'List 100%', 'List last']) made.push((await makeTeam(name)).teamID)
    const first = await admin('GET', '/admin/teams?limit=3')
    expect(first.body.map((team: { teamID: string }) => team.teamID)).toEqual(made.toReversed().slice(0, 3))
    const second = await admin('GET', `/admin/teams?limit=1&nextToken=${String(first.headers['x-next-token'])}`)
    expect(second.body.map((team: { teamID: string }) => team.teamID)).toEqual([made[0]])
    const all: string[] = []
    for (let token: string | undefined = ''; token !== undefined;) {
      const page: Answer = await admin('GET', `/admin/teams?limit=2${token === '' ? '' : `&nextToken=${token}`}`)
      all.push(...page.body.map((team: { teamID: string }) => team.teamID))
      token = page.headers['x-next-token'] as string | undefined
    }
    const rows = await world.database.db.selectFrom('team').select('id').execute()
    expect(all.toSorted()).toEqual(rows.map(({ id }) => id).toSorted())
    const found = async (search: string): Promise<string[]> =>
      (await admin('GET', `/admin/teams?search=${encodeURIComponent(search)}`)).body.map((team: { name: string }) => team.name)
    expect(await found('LIST A_')).toEqual(['List a_b'])
    expect(await found('00%')).toEqual(['List 100%'])
    expect(await found('\\')).toEqual([])
  })

  it('refuse tokens and texts that are not of the list', async () => {
    const cursor = Buffer.from('2026-01-01T00:00:00Z__not-a-uuid').toString('base64url')
    for (const query of [`nextToken=${cursor}`, 'nextToken=!', 'limit=0', 'limit=101', 'search=%00']) {
      expect([query, (await admin('GET', `/admin/teams?${query}`)).status]).toEqual([query, 400])
    }
  })

  it('are renamed, and keep their slug [PATCH /admin/teams/{teamID}]', async () => {
    const team = await makeTeam()
    const renamed = await admin('PATCH', `/admin/teams/${team.teamID}`, { name: 'New name', email: 'new@b.test' })
    expect([renamed.status, renamed.body]).toEqual([200, { ...team, name: 'New name', email: 'new@b.test' }])
    expect((await admin('PATCH', `/admin/teams/${team.teamID}`, {})).body).toEqual(renamed.body)
  })

  it.each([
    [{ limits: { sandboxes: 1 } }],
    [{ limits: { concurrentSandboxes: 0 } }],
    [{ limits: { concurrentSandboxes: 1.5 } }],
    [{ limits: { maxLifetimeSeconds: 86_401 } }],
    [{ limits: { createsPerMinute: 1_000_001 } }],
    [{ limits: { maxMemoryMB: 2 ** 31 } }],
    [{ limits: { maxStoredBytes: 2 ** 54 } }],
    [{ limits: { maxPausedSandboxes: 0 } }],
    [{ name: '' }],
    [{ blockedReason: 'a\0' }],
    [{ isBanned: 'yes' }],
  ])('are not changed by %o', async (body) => {
    const team = await makeTeam()
    expect((await admin('PATCH', `/admin/teams/${team.teamID}`, body)).status).toBe(400)
    expect((await admin('GET', `/admin/teams/${team.teamID}`)).body).toEqual(team)
  })

  it('keep limits of their own at once on all servers, until they are cleared', async () => {
    const caller = await addCaller(world, api, unique('Limits').replace(' ', ''))
    const patch = (limits: object): Promise<Answer> => admin('PATCH', `/admin/teams/${caller.teamId}`, { limits })
    const limits = { concurrentSandboxes: 1, maxSnapshots: 7, maxMemoryMB: 512, maxDiskMB: 20_000, maxStoredBytes: 2 ** 40 }
    const { body } = await patch(limits)
    expect(body.limits).toEqual(limits)
    expect(body.effectiveLimits).toMatchObject({ ...limits, concurrentBuilds: 20 })
    const create = (server: Server): Promise<Answer> =>
      server.call('POST', '/v2/sandboxes', { apiKey: caller.apiKey, body: { templateID: 'base' } })
    expect([(await create(api)).status, (await create(other)).status]).toEqual([201, 429])
    expect((await patch({ concurrentSandboxes: null, maxSnapshots: null, maxMemoryMB: null })).body.limits).toEqual({
      maxDiskMB: 20_000,
      maxStoredBytes: 2 ** 40,
    })
    expect((await create(other)).status).toBe(201)
  })

  it('are blocked and banned with their texts on all servers', async () => {
    const caller = await addCaller(world, api, unique('Blocked').replace(' ', ''))
    const create = async (): Promise<unknown> => (await other.call('POST', '/v2/sandboxes', { apiKey: caller.apiKey, body: {} })).body
    const list = async (): Promise<number> => (await other.call('GET', '/v2/sandboxes', { apiKey: caller.apiKey })).status
    const patch = (body: object): Promise<Answer> => admin('PATCH', `/admin/teams/${caller.teamId}`, body)
    const reads = async (wanted: string): Promise<void> =>
      waitFor(wanted, async () => ((await create()) as { message: string }).message === wanted)
    expect(await list()).toBe(200)
    await patch({ isBlocked: true, blockedReason: 'unpaid' })
    const valid = { templateID: 'base' }
    await waitFor('the block', async () => {
      const { body } = await other.call('POST', '/v2/sandboxes', { apiKey: caller.apiKey, body: valid })
      return body.message === 'team is blocked: unpaid'
    })
    expect(await list()).toBe(200)
    await patch({ blockedReason: null })
    await waitFor('the block without a reason', async () => {
      const { body } = await other.call('POST', '/v2/sandboxes', { apiKey: caller.apiKey, body: valid })
      return body.message === 'team is blocked'
    })
    await patch({ isBlocked: false, isBanned: true })
    await reads('team is banned')
    expect(await list()).toBe(403)
    await patch({ isBanned: false })
    await waitFor('the end of the ban', async () => (await list()) === 200)
  })

  it('are deleted when they have nothing left, and their keys with them [DELETE /admin/teams/{teamID}]', async () => {
    const caller = await addCaller(world, api, unique('Deleted').replace(' ', ''))
    const path = `/admin/teams/${caller.teamId}`
    const { sandboxID } = (await caller.withKey('POST', '/v2/sandboxes', { templateID: 'base' })).body
    expect((await admin('DELETE', path)).body).toEqual({ code: 409, message: 'The team still has sandboxes: delete them first' })
    await caller.withKey('DELETE', `/sandboxes/${sandboxID}`)
    const { templateID } = (await caller.withKey('POST', '/v3/templates', { name: 'left' })).body
    await waitFor('the end of the sandbox', async () => (await admin('DELETE', path)).body.message.includes('templates'))
    expect((await caller.withKey('DELETE', `/templates/${templateID}`)).status).toBe(204)
    const second = await makeTeam()
    await join(second.teamID, caller.userId)
    expect((await admin('DELETE', path)).status).toBe(204)
    expect([(await admin('DELETE', path)).body, (await admin('GET', path)).body]).toEqual([NO_TEAM, NO_TEAM])
    await waitFor('the key to be refused', async () => (await other.call('GET', '/v2/sandboxes', { apiKey: caller.apiKey })).status === 401)
    const { body: members } = await admin('GET', `/admin/teams/${second.teamID}/members`)
    expect(members).toMatchObject([{ userID: caller.userId, isDefault: true }])
  })

  it('that a server does not know yet as deleted get 401 for what they would create', async () => {
    // It hears of no changes.
    const late = await world.startServer({ capabilities: { mounts: true }, env: { SANDYARD_SECRETS_KEY: 'ab'.repeat(32) } })
    const caller = await addCaller(world, late, 'Gone')
    expect((await caller.withKey('GET', '/v2/sandboxes')).status).toBe(200)
    expect((await admin('DELETE', `/admin/teams/${caller.teamId}`)).status).toBe(204)
    const events = ['sandbox.lifecycle.created']
    for (const [path, body] of [
      ['/v2/sandboxes', { templateID: world.templateId }],
      ['/v3/templates', { name: 'mine' }],
      ['/volumes', { name: 'mine' }],
      ['/secrets', { name: 'mine', value: 'x' }],
      ['/events/webhooks', { name: 'mine', url: 'https://example.com', events, signatureSecret: 'x'.repeat(32) }],
    ] as const) {
      const answer = await caller.withKey('POST', path, body)
      expect([path, answer.body]).toEqual([path, { code: 401, message: 'You are not authenticated' }])
    }
  })

  it('that do not exist are 404, and ids that are no UUID 400', async () => {
    const absent = randomUUID()
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['GET', '/members'],
      ['PUT', `/members/${world.userId}`],
      ['DELETE', `/members/${world.userId}`],
    ] as const) {
      const body = method === 'PATCH' ? {} : undefined
      expect([method, path, (await admin(method, `/admin/teams/${absent}${path}`, body)).body]).toEqual([method, path, NO_TEAM])
      expect((await admin(method, `/admin/teams/nonsense${path}`, body)).body).toEqual({ code: 400, message: 'Invalid team ID' })
    }
  })

  it('are for administrators only', async () => {
    for (const headers of [{}, { 'x-admin-token': 'wrong' }, { 'x-api-key': world.credentials.apiKey }]) {
      expect((await api.call('GET', '/admin/teams', { apiKey: null, headers })).status).toBe(401)
    }
  })
})

describe('users', () => {
  it('are created, shown, listed and deleted [POST /admin/users] [GET /admin/users] [GET /admin/users/{userID}] [DELETE /admin/users/{userID}]', async () => {
    const { status, body } = await admin('POST', '/admin/users', { email: 'new@example.test' })
    expect([status, body]).toEqual([201, { userID: expect.any(String), email: 'new@example.test', createdAt: expect.any(String) }])
    expect((await admin('POST', '/admin/users', { email: 'new@example.test' })).body).toEqual({
      code: 409,
      message: "A user with the address 'new@example.test' exists",
    })
    expect((await admin('GET', `/admin/users/${body.userID}`)).body).toEqual(body)
    expect((await admin('GET', '/admin/users?search=NEW@')).body).toEqual([body])
    const newest = await admin('GET', '/admin/users?limit=1')
    expect([newest.body, typeof newest.headers['x-next-token']]).toEqual([[body], 'string'])
    expect((await admin('DELETE', `/admin/users/${body.userID}`)).status).toBe(204)
    const absent = { code: 404, message: 'User not found' }
    expect((await admin('GET', `/admin/users/${body.userID}`)).body).toEqual(absent)
    expect((await admin('DELETE', `/admin/users/${body.userID}`)).body).toEqual(absent)
    expect((await admin('GET', '/admin/users/me')).body).toEqual({ code: 400, message: 'Invalid user ID' })
    expect((await admin('POST', '/admin/users', { email: 'none' })).status).toBe(400)
  })

  it('lose their tokens when they are deleted, and the keys of their teams stay', async () => {
    const caller: Caller = await addCaller(world, api, unique('Gone').replace(' ', ''))
    expect((await caller.withToken('GET', '/teams')).status).toBe(200)
    await admin('DELETE', `/admin/users/${caller.userId}`)
    await waitFor('the token to be refused', async () => (await caller.withToken('GET', '/teams')).status === 401)
    expect((await caller.withKey('GET', '/v2/sandboxes')).status).toBe(200)
  })
})

describe('members', () => {
  const defaults = async (userID: string): Promise<string[]> => {
    const rows = world.database.db.selectFrom('team_member').select('team_id').where('user_id', '=', userID).where('is_default', '=', true)
    return (await rows.execute()).map(({ team_id: id }) => id)
  }

  it('are added, listed and removed [PUT /admin/teams/{teamID}/members/{userID}] [GET /admin/teams/{teamID}/members] [DELETE /admin/teams/{teamID}/members/{userID}]', async () => {
    const { teamID } = await makeTeam()
    const [first, second] = [await makeUser(), await makeUser()]
    expect([(await join(teamID, first)).status, (await join(teamID, second)).status, (await join(teamID, first)).status]).toEqual([
      204, 204, 204,
    ])
    const { body } = await admin('GET', `/admin/teams/${teamID}/members`)
    const member = { email: expect.stringContaining('@'), isDefault: true, createdAt: expect.any(String) }
    expect(body).toEqual([
      { userID: second, ...member },
      { userID: first, ...member },
    ])
    const page = await admin('GET', `/admin/teams/${teamID}/members?limit=1`)
    const next = await admin('GET', `/admin/teams/${teamID}/members?limit=1&nextToken=${String(page.headers['x-next-token'])}`)
    expect([next.body, next.headers['x-next-token']]).toEqual([[body[1]], undefined])
    expect((await admin('DELETE', `/admin/teams/${teamID}/members/${first}`)).status).toBe(204)
    expect((await admin('DELETE', `/admin/teams/${teamID}/members/${first}`)).body).toEqual({
      code: 404,
      message: 'The user is not a member of the team',
    })
    expect((await join(teamID, randomUUID())).body).toEqual({ code: 404, message: 'User not found' })
    expect((await join(teamID, 'me')).body).toEqual({ code: 400, message: 'Invalid user ID' })
  })

  it('have one default team while they have any', async () => {
    const user = await makeUser()
    const [a, b, c] = [await makeTeam(), await makeTeam(), await makeTeam()].map(({ teamID }) => teamID as string) as [
      string,
      string,
      string,
    ]
    await join(a, user)
    await join(b, user)
    await join(c, user, { isDefault: true })
    expect(await defaults(user)).toEqual([c])
    await join(c, user)
    expect(await defaults(user)).toEqual([c])
    await join(c, user, { isDefault: false })
    expect(await defaults(user)).toEqual([a])
    await admin('DELETE', `/admin/teams/${a}/members/${user}`)
    expect(await defaults(user)).toEqual([b])
    await admin('DELETE', `/admin/teams/${b}`)
    expect(await defaults(user)).toEqual([c])
    await join(c, user, { isDefault: false })
    expect(await defaults(user)).toEqual([c])
  })

  it('have one default team when requests for several come at once', async () => {
    const user = await makeUser()
    const teams = await Promise.all([0, 1, 2, 3].map(() => makeTeam()))
    const answers = await Promise.all(teams.map(({ teamID }) => join(teamID, user, { isDefault: true })))
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204])
    expect(await defaults(user)).toHaveLength(1)
  })

  it('act for the team with their token at once, and no longer after their removal', async () => {
    const caller = await addCaller(world, api, unique('Joiner').replace(' ', ''))
    const { teamID } = await makeTeam()
    const reads = async (): Promise<number> => (await caller.withToken('GET', `/templates?teamID=${teamID}`)).status
    expect(await reads()).toBe(403)
    await join(teamID, caller.userId)
    expect(await reads()).toBe(200)
    await admin('DELETE', `/admin/teams/${teamID}/members/${caller.userId}`)
    expect(await reads()).toBe(403)
  })
})

describe('the limits of a team', () => {
  it('are shown to it with what is used [GET /teams/{teamID}/limits]', async () => {
    const caller = await addCaller(world, api, unique('Used').replace(' ', ''))
    await admin('PATCH', `/admin/teams/${caller.teamId}`, { limits: { concurrentSandboxes: 5, concurrentBuilds: 3 } })
    await caller.withKey('POST', '/v2/sandboxes', { templateID: 'base' })
    await caller.withKey('POST', '/v3/templates', { name: 'one' })
    const limits = (): Promise<Answer> => caller.withKey('GET', `/teams/${caller.teamId}/limits`)
    await waitFor('the limits', async () => (await limits()).body.concurrentSandboxes.limit === 5)
    expect((await limits()).body).toEqual({
      concurrentSandboxes: { limit: 5, used: 1 },
      maxPausedSandboxes: { limit: 1000, used: 0 },
      maxLifetimeSeconds: { limit: 86_400 },
      createsPerMinute: { limit: null },
      createBurst: { limit: null },
      maxSnapshots: { limit: 10_000, used: 0 },
      maxTemplates: { limit: 1000, used: 1 },
      concurrentBuilds: { limit: 3, used: 1 },
      maxCpuCount: { limit: 8 },
      maxMemoryMB: { limit: 8096 },
      maxDiskMB: { limit: 35_240 },
      maxStoredBytes: { limit: null, used: 0 },
    })
    expect((await caller.withKey('GET', `/teams/${world.teamId}/limits`)).body).toEqual({
      code: 403,
      message: `You (${caller.teamId}) are not authorized to access this team's (${world.teamId}) limits`,
    })
    await admin('PATCH', `/admin/teams/${caller.teamId}`, { isBlocked: true })
    expect((await limits()).status).toBe(200)
  })
})
