import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { issueLoginCode } from '../../src/dashboard/sessions/login-code.ts'
import { ADMIN_TOKEN, createWorld, type Answer, type Server, type World } from '../support/control-plane.ts'
import { Browser, ORIGIN } from '../support/dashboard-browser.ts'
import { seedParty, type Party } from '../support/templates.ts'

let world: World
let api: Server
let strangers: Party
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ env: { SANDYARD_TRUSTED_PROXIES: '127.0.0.1' } })
  strangers = await seedParty(world, 'Strangers')
})
afterAll(() => world[Symbol.asyncDispose]())

let nextAddress = 0
/** Wrong logins are counted by address, and no test concerns another one's. */
const freshAddress = () => `192.0.2.${++nextAddress}`
const admin = { 'x-admin-token': ADMIN_TOKEN }
const makeKey = async (body: object) => {
  const headers = { authorization: `Bearer ${world.credentials.accessToken}`, 'x-team-id': world.teamId }
  return (await api.call('POST', '/api-keys', { apiKey: null, headers, body })).body as { id: string; key: string }
}

describe('a login', () => {
  it('with a key is a session of its team, whose cookie is for this host and not for scripts', async () => {
    const browser = new Browser(api)
    const answer = await browser.call('POST', '/api/login', { body: { key: world.credentials.apiKey } })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body).toMatchObject({
      role: 'developer',
      team: { teamId: world.teamId, name: 'Acme', isBlocked: false, blockedReason: null },
      teams: [{ teamId: world.teamId }],
      key: { isReadOnly: false },
      server: { apiUrl: ORIGIN },
    })
    expect(answer.headers['set-cookie']).toMatch(/^sandyard=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/)
    expect(answer.text).not.toContain(world.credentials.apiKey)
    expect((await browser.call('GET', '/api/me')).body).toEqual(answer.body)
  })

  it('over TLS has a cookie that pages of sandboxes cannot set, and no other one counts', async () => {
    const tls = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'dash.localhost', 'x-forwarded-for': '192.0.2.200' }
    const origin = 'https://dash.localhost'
    const browser = new Browser(api)
    const answer = await browser.call('POST', '/api/login', { body: { key: world.credentials.apiKey }, headers: tls, origin })
    expect(answer.headers['set-cookie']).toMatch(/^__Host-sandyard=[\w-]{43}; .*SameSite=Strict; Secure$/)
    expect((await browser.call('GET', '/api/me', { headers: tls, origin })).status).toBe(200)
    const plain = browser.cookie.replace('__Host-', '')
    expect((await browser.call('GET', '/api/me', { headers: tls, origin, cookie: plain })).status).toBe(401)
  })

  it('with the admin token or a code is an operator, who changes the team and is not locked out by a blocked one', async () => {
    const browser = await new Browser(api).logIn({ adminToken: ADMIN_TOKEN })
    const me = await browser.call('GET', '/api/me')
    expect(me.body).toMatchObject({ role: 'operator', team: { teamId: world.teamId }, key: null })
    expect(me.body.teams.map(({ teamId }: { teamId: string }) => teamId)).toContain(strangers.teamId)
    const moved = await browser.call('POST', '/api/me/team', { body: { teamId: strangers.teamId } })
    expect(moved.body.team.teamId).toBe(strangers.teamId)
    await api.call('PATCH', `/admin/teams/${strangers.teamId}`, { apiKey: null, headers: admin, body: { isBlocked: true } })
    expect((await browser.call('GET', '/api/me')).body).toMatchObject({ team: { teamId: strangers.teamId, isBlocked: true } })
    expect((await browser.call('POST', '/api/me/team', { body: { teamId: world.teamId } })).status).toBe(200)
    expect((await browser.call('POST', '/api/me/team', { body: { teamId: randomUUID() } })).status).toBe(404)
  })

  it('with a code works once', async () => {
    const code = await issueLoginCode(world.database.db)
    const tries = await Promise.all(
      [1, 2, 3].map(() => new Browser(api).call('POST', '/api/login', { body: { code }, headers: { 'x-forwarded-for': freshAddress() } })),
    )
    expect(tries.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401, 401])
    expect(tries.find(({ status }) => status === 200)?.body.role).toBe('operator')
    const old = await issueLoginCode(world.database.db)
    await world.database.db
      .updateTable('dashboard_login_code')
      .set({ expires_at: new Date(0) })
      .execute()
    expect((await new Browser(api).call('POST', '/api/login', { body: { code: old } })).status).toBe(401)
  })

  it.each([{ key: 'e2b_' }, { key: `e2b_${'0'.repeat(40)}` }, { adminToken: 'x' }, { code: 'x' }])('with %j is refused', async (body) => {
    const answer = await new Browser(api).call('POST', '/api/login', { body, headers: { 'x-forwarded-for': freshAddress() } })
    expect(answer).toMatchObject({ status: 401, body: { code: 401 } })
    expect(answer.headers['set-cookie']).toBeUndefined()
  })

  it.each([{}, { key: 1 }, { key: 'a', code: 'b' }, { key: 'x'.repeat(300) }])('with the body %j is answered with 400', async (body) => {
    expect((await new Browser(api).call('POST', '/api/login', { body })).status).toBe(400)
  })

  it('is refused after five wrong ones in a minute, also when they come at once, and only for their address', async () => {
    const headers = { 'x-forwarded-for': freshAddress() }
    const attempt = (body: object, head = headers) => new Browser(api).call('POST', '/api/login', { body, headers: head })
    const tries = await Promise.all(Array.from({ length: 12 }, () => attempt({ key: `e2b_${'1'.repeat(40)}` })))
    expect(tries.filter(({ status }) => status === 401).length).toBe(5)
    const refused = await attempt({ key: world.credentials.apiKey })
    expect(refused.status).toBe(429)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect((await attempt({ key: world.credentials.apiKey }, { 'x-forwarded-for': freshAddress() })).status).toBe(200)
  })

  it('with a limited key only reads, or is refused', async () => {
    const { key } = await makeKey({ name: 'reads', scope: 'read' })
    const browser = await new Browser(api).logIn({ key })
    expect((await browser.call('GET', '/api/me')).body.key).toMatchObject({ name: 'reads', isReadOnly: true })
    expect((await browser.call('GET', '/api/wire/v2/sandboxes')).status).toBe(200)
    expect((await browser.call('POST', '/api/wire/api-keys', { body: { name: 'more' } })).status).toBe(403)
    expect((await browser.call('POST', '/api/me/team', { body: { teamId: world.teamId } })).status).toBe(403)
    for (const scope of ['connect', 'build']) {
      const limited = await makeKey({ name: scope, scope })
      expect((await new Browser(api).call('POST', '/api/login', { body: { key: limited.key } })).status).toBe(403)
    }
  })
})

describe('a session', () => {
  it('is stored as a hash, and ends with the logout', async () => {
    const browser = await new Browser(api).logIn({ key: world.credentials.apiKey })
    const { cookie } = browser
    const rows = await world.database.db.selectFrom('dashboard_session').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(cookie.split('=')[1])
    const out = await browser.call('POST', '/api/logout')
    expect(out.status).toBe(204)
    expect(out.headers['set-cookie']).toMatch(/^sandyard=; Max-Age=0/)
    expect(browser.cookie).toBe('')
    expect((await browser.call('GET', '/api/me', { cookie })).status).toBe(401)
    expect((await browser.call('POST', '/api/logout')).status).toBe(204)
  })

  it('ends with its key', async () => {
    const { id, key } = await makeKey({ name: 'short' })
    const browser = await new Browser(api).logIn({ key })
    await browser.call('DELETE', `/api/wire/api-keys/${id}`)
    expect((await browser.call('GET', '/api/me')).status).toBe(401)
  })

  it('ends with a ban of its team', async () => {
    const party = await seedParty(world, 'Banned')
    const browser = await new Browser(api).logIn({ key: party.apiKey })
    expect((await browser.call('GET', '/api/me')).status).toBe(200)
    await world.database.db.updateTable('team').set({ is_banned: true }).where('id', '=', party.teamId).execute()
    expect((await browser.call('GET', '/api/me')).status).toBe(401)
    expect((await new Browser(api).call('POST', '/api/login', { body: { key: party.apiKey } })).status).not.toBe(200)
  })

  it('ends when it was not used for twelve hours, and after seven days', async () => {
    const idle = await new Browser(api).logIn({ key: world.credentials.apiKey })
    const old = await new Browser(api).logIn({ key: world.credentials.apiKey })
    const used = await new Browser(api).logIn({ key: world.credentials.apiKey })
    const ids = await world.database.db
      .selectFrom('dashboard_session')
      .select('session_id')
      .orderBy('created_at', 'desc')
      .limit(3)
      .execute()
    const change = (at: number, to: { used_at?: Date; expires_at?: Date }) =>
      world.database.db
        .updateTable('dashboard_session')
        .set(to)
        .where('session_id', '=', ids[at]?.session_id ?? '')
        .execute()
    await change(2, { used_at: new Date(Date.now() - 12.1 * 3_600_000) })
    await change(1, { expires_at: new Date(Date.now() - 1000) })
    await change(0, { used_at: new Date(Date.now() - 11.9 * 3_600_000) })
    const states = await Promise.all([idle, old, used].map(async (browser) => (await browser.call('GET', '/api/me')).status))
    expect(states).toEqual([401, 401, 200])
    const row = await world.database.db
      .selectFrom('dashboard_session')
      .select('used_at')
      .where('session_id', '=', ids[0]?.session_id ?? '')
      .executeTakeFirst()
    expect(row?.used_at.getTime()).toBeGreaterThan(Date.now() - 3_600_000)
  })

  it('is not confused by cookies that a page of a sandbox has set for the domain', async () => {
    const browser = await new Browser(api).logIn({ key: world.credentials.apiKey })
    const foreign = await new Browser(api).logIn({ key: strangers.apiKey })
    const junk = await browser.call('GET', '/api/me', { cookie: `sandyard=${'x'.repeat(43)}; ${browser.cookie}` })
    expect(junk.body.team.teamId).toBe(world.teamId)
    const both = await browser.call('GET', '/api/me', { cookie: `${foreign.cookie}; ${browser.cookie}` })
    expect(both).toMatchObject({ status: 401, body: { message: expect.stringMatching(/two logins/) } })
  })

  it('survives such cookies: the answer removes all of the domain and of longer paths, and never its own', async () => {
    const origin = 'http://api.acme.example:3000'
    const env = { SANDYARD_API_URL: origin, SANDYARD_DOMAIN: 'acme.example' }
    const named = await world.startServer({ env })
    const headers = { host: new URL(origin).host }
    const browser = await new Browser(api).logIn({ key: world.credentials.apiKey })
    const foreign = await new Browser(api).logIn({ key: strangers.apiKey })
    const setBy = (answer: Answer): string[] => [answer.headers['set-cookie'] ?? []].flat() as string[]
    const junk = Array.from({ length: 6 }, (_, index) => `sandyard=${String(index).repeat(43)}`).join('; ')
    for (const before of [foreign.cookie, junk]) {
      const cookie = `${before}; ${browser.cookie}`
      const answer = await new Browser(named).call('GET', '/api/me', { cookie, headers, origin })
      expect(answer.status).toBe(401)
      expect(answer.headers['sandyard-cookies-cleaned']).toBe('yes')
      const removals = setBy(answer)
      for (const path of ['/', '/dashboard', '/dashboard/', '/dashboard/api', '/dashboard/api/', '/dashboard/api/me']) {
        for (const domain of ['api.acme.example', 'acme.example']) {
          expect(removals).toContain(`sandyard=; Max-Age=0; Path=${path}; Domain=${domain}`)
        }
      }
      expect(removals).toContain('sandyard=; Max-Age=0; Path=/dashboard/api')
      expect(removals.filter((text) => !text.includes('Domain=')).every((text) => text.includes('Path=/dashboard'))).toBe(true)
      expect(removals.every((text) => !text.endsWith('Domain=example'))).toBe(true)
    }
    const alone = await new Browser(named).call('GET', '/api/me', { cookie: browser.cookie, headers, origin })
    expect(alone.status).toBe(200)
    expect(alone.headers['set-cookie']).toBeUndefined()
    // A single label has no parent, and its own cookie would be removed with one of the domain.
    const local = await new Browser(api).call('GET', '/api/me', {
      cookie: `${junk}; ${browser.cookie}`,
      headers: { host: 'localhost:3000' },
    })
    expect(setBy(local).length).toBeGreaterThan(0)
    expect(setBy(local).every((text) => text.includes('Path=/dashboard') && !text.includes('Domain'))).toBe(true)
  })

  it('of an operator ends when the admin token changes, and works on every server with the same one', async () => {
    const env = { SANDYARD_ADMIN_TOKEN: 'another token of administrators' }
    const operators = [await new Browser(api).logIn({ adminToken: ADMIN_TOKEN }), new Browser(api)]
    await operators[1]?.logIn({ code: await issueLoginCode(world.database.db) })
    const developer = await new Browser(api).logIn({ key: world.credentials.apiKey })
    const same = await world.startServer()
    const changed = await world.startServer({ env })
    const statusOn = async (server: Server, { cookie }: Browser) => (await new Browser(server).call('GET', '/api/me', { cookie })).status
    for (const operator of operators) {
      expect(await statusOn(same, operator)).toBe(200)
      expect(await statusOn(changed, operator)).toBe(401)
    }
    expect(await statusOn(changed, developer)).toBe(200)
    const late = await new Browser(changed).logIn({ adminToken: env.SANDYARD_ADMIN_TOKEN })
    expect(await statusOn(changed, late)).toBe(200)
    expect(await statusOn(api, late)).toBe(401)
  })

  it('is recorded with its login', async () => {
    const browser = await new Browser(api).logIn({ key: world.credentials.apiKey })
    await browser.call('POST', '/api/logout')
    const rows = await world.database.db
      .selectFrom('audit')
      .select(['operation', 'actor', 'targets', 'status'])
      .where('operation', 'like', 'dashboard %')
      .where('team_id', '=', world.teamId)
      .orderBy('created_at', 'desc')
      .execute()
    expect(rows).toContainEqual({ operation: 'dashboard POST /login', actor: 'key', targets: { via: 'dashboard' }, status: 200 })
    expect(rows).toContainEqual({ operation: 'dashboard POST /logout', actor: 'key', targets: { via: 'dashboard' }, status: 204 })
  })
})
