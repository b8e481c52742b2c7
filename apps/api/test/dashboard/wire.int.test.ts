import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, createWorld, waitFor, type Server, type World } from '../support/control-plane.ts'
import { Browser } from '../support/dashboard-browser.ts'
import { block, seedParty, type Party } from '../support/templates.ts'

let world: World
let api: Server
let theirs: Party
let developer: Browser
let operator: Browser
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ loops: true, capabilities: { mounts: true } })
  theirs = await seedParty(world, 'Theirs')
  developer = await new Browser(api).logIn({ key: world.credentials.apiKey })
  operator = await new Browser(api).logIn({ adminToken: ADMIN_TOKEN })
})
afterAll(() => world[Symbol.asyncDispose]())

const create = async (browser: Browser) => {
  const body = { templateID: 'base', secure: true, network: { allowPublicTraffic: false }, metadata: { token: 'mine' } }
  const answer = await browser.call('POST', '/api/wire/v2/sandboxes', { body })
  expect(answer.status, answer.text).toBe(201)
  return answer
}

describe('the operations of the interface through the dashboard', () => {
  it('run as the team of the session, and no answer has a token of a sandbox', async () => {
    const created = await create(developer)
    const { sandboxID } = created.body as { sandboxID: string }
    const direct = await api.call('GET', `/sandboxes/${sandboxID}`)
    expect(direct.body.envdAccessToken).toMatch(/^\w+/)
    const secret = direct.body.envdAccessToken as string
    const forked = await developer.call('POST', `/api/wire/sandboxes/${sandboxID}/fork`, { body: { count: 1 } })
    const answers = [
      created,
      await developer.call('GET', `/api/wire/sandboxes/${sandboxID}`),
      await developer.call('GET', '/api/wire/v2/sandboxes'),
      await developer.call('GET', '/api/wire/sandboxes'),
      await developer.call('POST', `/api/wire/sandboxes/${sandboxID}/connect`, { body: { timeout: 60 } }),
      forked,
    ]
    for (const { status, text } of answers) {
      expect(status, text).toBeLessThan(300)
      expect(text).toContain('sandboxID')
      expect(text).not.toMatch(/AccessToken/)
      expect(text).not.toContain(secret)
    }
    expect(answers[1]?.body.metadata).toEqual({ token: 'mine' })
  })

  it('do not give the token of a volume', async () => {
    const made = await developer.call('POST', '/api/wire/volumes', { body: { name: 'data' } })
    expect(made).toMatchObject({ status: 201, body: { token: '' } })
    const { volumeID } = made.body as { volumeID: string }
    expect((await developer.call('GET', `/api/wire/volumes/${volumeID}`)).body).toMatchObject({ name: 'data', token: '' })
    expect((await api.call('GET', `/volumes/${volumeID}`)).body.token).not.toBe('')
  })

  it('may manage keys, which a key alone may not', async () => {
    const made = await developer.call('POST', '/api/wire/api-keys', { body: { name: 'new' } })
    expect(made.status, made.text).toBe(201)
    expect(made.body.key).toMatch(/^e2b_/)
    expect(made.headers['cache-control']).toBe('no-store')
    expect((await developer.call('DELETE', `/api/wire/api-keys/${made.body.id}`)).status).toBe(204)
    expect((await api.call('GET', '/api-keys')).status).toBe(401)
  })

  it('make keys that do not outlive the key of the login', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const short = await developer.call('POST', '/api/wire/api-keys', { body: { name: 'short', expiresAt } })
    const browser = await new Browser(api).logIn({ key: short.body.key })
    const made = await browser.call('POST', '/api/wire/api-keys', { body: { name: 'longer' } })
    expect(made).toMatchObject({ status: 201, body: { expiresAt } })
  })

  it('ignore credentials in headers', async () => {
    const headers = { 'x-api-key': theirs.apiKey, 'x-admin-token': ADMIN_TOKEN, 'x-team-id': theirs.teamId, authorization: theirs.bearer }
    expect((await developer.call('GET', '/api/wire/v2/sandboxes', { headers, cookie: '' })).status).toBe(401)
    expect((await developer.call('GET', '/api/wire/v2/sandboxes', { headers })).body).not.toEqual([])
    expect((await developer.call('GET', '/api/wire/admin/teams', { headers })).status).toBe(403)
  })

  it('of administrators are for operators, whatever the state of their team', async () => {
    await operator.call('POST', '/api/me/team', { body: { teamId: theirs.teamId } })
    await block(world, theirs.teamId, 'unpaid')
    expect((await operator.call('GET', '/api/wire/admin/teams')).status).toBe(200)
    expect((await operator.call('GET', '/api/wire/v2/sandboxes')).status).toBe(200)
    expect((await operator.call('POST', '/api/wire/sandboxes', { body: { templateID: 'base' } })).status).toBe(403)
    expect((await operator.call('PATCH', `/api/wire/admin/teams/${theirs.teamId}`, { body: { isBlocked: false } })).status).toBe(200)
    expect((await developer.call('GET', '/api/wire/admin/teams')).status).toBe(403)
  })

  it('about users are refused: listing teams would make keys', async () => {
    const keys = () => world.database.db.selectFrom('api_key').select('id').execute()
    const before = await keys()
    expect((await developer.call('GET', '/api/wire/teams')).status).toBe(403)
    expect(await keys()).toEqual(before)
  })

  it('reach nothing that is not an operation', async () => {
    for (const path of ['/dashboard/api/me', '/openapi.json', '/docs', '/dashboard/api/wire/v2/sandboxes', '//v2/sandboxes', '/']) {
      expect((await developer.call('GET', `/api/wire${path}`)).status, path).toBe(404)
    }
    expect((await developer.call('GET', '/api/wire')).status).toBe(404)
    expect((await api.call('GET', '/v2/sandboxes', { apiKey: null, headers: { cookie: developer.cookie } })).status).toBe(401)
  })

  it('are recorded as done in the dashboard, also as the actor of the end', async () => {
    const { sandboxID } = (await create(operator)).body as { sandboxID: string }
    await operator.call('DELETE', `/api/wire/sandboxes/${sandboxID}`)
    const rows = await world.database.db
      .selectFrom('audit')
      .select(['operation', 'actor', 'targets'])
      .where('operation', '=', 'killSandbox')
      .execute()
    expect(rows).toContainEqual({ operation: 'killSandbox', actor: 'admin', targets: { sandboxID, via: 'dashboard' } })
    const actorOfEnd = async () => {
      const ended = world.database.db.selectFrom('sandbox_history').select('end_actor').where('sandbox_id', '=', sandboxID)
      return (await ended.executeTakeFirst())?.end_actor
    }
    await waitFor('the sandbox is in the history', async () => (await actorOfEnd()) !== undefined)
    expect(await actorOfEnd()).toEqual({ kind: 'admin', via: 'dashboard' })
  })
})
