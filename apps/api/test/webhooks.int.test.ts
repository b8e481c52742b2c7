import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seedIdentity } from '@sandyard/api/seed/seed-identity'
import { createWorld, type Answer, type Server, type World } from './support/control-plane.ts'

const KEY = 'ab'.repeat(32)
const SECRET = 'a secret of thirty-two characters'
const ALL = ['created', 'updated', 'paused', 'resumed', 'checkpointed', 'killed'].map((type) => `sandbox.lifecycle.${type}`)
const NO_ONE = '00000000-0000-4000-8000-000000000000'

const names: Record<string, string[]> = { 'public.test': ['8.8.8.8'], 'mixed.test': ['8.8.8.8', '10.0.0.1'] }

let world: World
let api: Server
let strangerKey: string
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ env: { SANDYARD_SECRETS_KEY: KEY }, lookupHost: async (name) => names[name] ?? [] })
  strangerKey = (await seedIdentity(world.database, { teamName: 'Strangers', email: 'stranger@acme.test' })).credentials?.apiKey ?? ''
})
afterAll(() => world[Symbol.asyncDispose]())

const NEW = { name: 'mine', url: 'https://public.test/hook', events: ALL, signatureSecret: SECRET }
const create = (fields: object = {}, headers: Record<string, string> = {}): Promise<Answer> =>
  api.call('POST', '/events/webhooks', { body: { ...NEW, ...fields }, headers })
const idOf = async (fields: object = {}): Promise<string> => (await create(fields)).body.id

describe('[POST /events/webhooks]', () => {
  it('creates a webhook and never shows its secret', async () => {
    const { status, body, text } = await create({ events: ALL.slice(0, 2) })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      teamId: world.teamId,
      name: 'mine',
      url: 'https://public.test/hook',
      events: ALL.slice(0, 2),
      enabled: true,
      createdAt: expect.stringMatching(/Z$/),
    })
    expect(text).not.toContain(SECRET)
    expect((await create({ enabled: false })).body.enabled).toBe(false)
    const row = await world.database.db.selectFrom('webhook').selectAll().where('webhook_id', '=', body.id).executeTakeFirstOrThrow()
    expect(row.sealed_secret.includes(SECRET)).toBe(false)
  })

  it('creates one webhook for one idempotency key', async () => {
    const headers = { 'idempotency-key': 'one-webhook' }
    const [first, second] = [await create({}, headers), await create({}, headers)]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body).toEqual(first.body)
    expect((await create({ name: 'another' }, headers)).status).toBe(422)
  })

  it.each([
    ['a short secret', { signatureSecret: 'short' }],
    ['a long secret', { signatureSecret: 'x'.repeat(257) }],
    ['no event', { events: [] }],
    ['an unknown event', { events: ['sandbox.created'] }],
    ['an event twice', { events: [ALL[0], ALL[0]] }],
    ['no name', { name: '' }],
    ['a name that cannot be stored', { name: 'a\0' }],
    ['no URL', { url: 'nothing' }],
    ['another scheme', { url: 'ftp://public.test/' }],
    ['user information', { url: 'https://me:pass@public.test/' }],
    ['loopback', { url: 'http://127.0.0.1/' }],
    ['loopback in another spelling', { url: 'http://0x7f.1/' }],
    ['loopback of IPv6', { url: 'http://[::1]/' }],
    ['loopback in IPv6', { url: 'http://[::ffff:127.0.0.1]/' }],
    ['a private address', { url: 'http://10.1.2.3/' }],
    ['a metadata service', { url: 'http://169.254.169.254/latest/meta-data' }],
    ['a name with a private address', { url: 'http://mixed.test/' }],
  ])('refuses %s with 400', async (_, fields) => {
    const { status, body } = await create(fields)
    expect([status, body.code]).toEqual([400, 400])
  })

  it('refuses more than 100 webhooks of a team', async () => {
    const key = (await seedIdentity(world.database, { teamName: 'Many', email: 'many@acme.test' })).credentials?.apiKey ?? ''
    const statuses = new Set<number>()
    for (let count = 0; count < 100; count += 1) {
      statuses.add((await api.call('POST', '/events/webhooks', { body: NEW, apiKey: key })).status)
    }
    expect([...statuses]).toEqual([201])
    const refused = await api.call('POST', '/events/webhooks', { body: NEW, apiKey: key })
    expect([refused.status, refused.body.message]).toEqual([429, 'A team can have at most 100 webhooks'])
    expect((await api.call('GET', '/events/webhooks', { apiKey: key })).body).toHaveLength(100)
  })
})

describe('[GET /events/webhooks] [GET /events/webhooks/{webhookID}] [PATCH /events/webhooks/{webhookID}] [DELETE /events/webhooks/{webhookID}]', () => {
  it('get, change, list and delete a webhook, each with 200', async () => {
    const id = await idOf()
    const url = `/events/webhooks/${id}`
    expect((await api.call('GET', url)).body).toMatchObject({ id, name: 'mine', enabled: true })
    const changed = await api.call('PATCH', url, {
      body: { name: 'yours', events: [ALL[5]], enabled: false, url: 'http://public.test:8080', signatureSecret: SECRET.repeat(2) },
    })
    expect([changed.status, changed.body]).toEqual([200, expect.objectContaining({ id, name: 'yours', events: [ALL[5]], enabled: false })])
    expect(changed.body.url).toBe('http://public.test:8080/')
    expect(changed.text).not.toContain(SECRET)
    expect((await api.call('PATCH', url, { body: {} })).body).toEqual(changed.body)
    expect((await api.call('GET', '/events/webhooks')).body).toContainEqual(changed.body)
    const deleted = await api.call('DELETE', url)
    expect([deleted.status, deleted.body]).toEqual([200, changed.body])
    expect((await api.call('GET', url)).body).toEqual({ code: 404, message: `Webhook '${id}' not found` })
  })

  it.each([{ url: 'http://[::1]/' }, { signatureSecret: 'short' }, { events: [] }, { enabled: null }])(
    'refuse the change %o',
    async (body) => {
      const id = await idOf()
      expect((await api.call('PATCH', `/events/webhooks/${id}`, { body })).status).toBe(400)
    },
  )
})

describe('every operation of a webhook', () => {
  const ROWS = [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['GET', '/deliveries'],
    ['GET', '/dead'],
    ['GET', '/stats'],
    ['POST', `/deliveries/${NO_ONE}/resend`],
  ] as const

  it.each(ROWS)('%s %s answers 404 for one of another team, for an unknown one and for text that is no id', async (method, path) => {
    const id = await idOf()
    for (const [known, apiKey] of [
      [id, strangerKey],
      [NO_ONE, undefined],
      ['nothing', undefined],
      ["'%00", undefined],
    ] as const) {
      const answer = await api.call(method, `/events/webhooks/${known}${path}`, {
        ...(apiKey !== undefined && { apiKey }),
        ...(method === 'PATCH' && { body: { name: 'taken' } }),
      })
      expect(answer.status, known).toBe(404)
    }
    expect((await api.call('GET', `/events/webhooks/${id}`)).body.name).toBe('mine')
    expect((await api.call('GET', '/events/webhooks', { apiKey: strangerKey })).body).toEqual([])
  })

  it('answers 501 that names the setting, where the operator has given no key', async () => {
    await using server = await world.startServer()
    const id = await idOf()
    const rows = [...ROWS.map(([method, path]) => [method, `/events/webhooks/${id}${path}`] as const), ['GET', '/events/webhooks'] as const]
    for (const [method, url] of rows) {
      const { status, body } = await server.call(method, url, { ...(method === 'PATCH' && { body: {} }) })
      expect([status, body.code], `${method} ${url}`).toEqual([501, 501])
      expect(body.message).toContain('SANDYARD_SECRETS_KEY')
    }
    expect((await server.call('POST', '/events/webhooks', { body: NEW })).status).toBe(501)
  })

  it.each(['cursor=x', 'limit=0', 'limit=101', 'deliveryStatus=lost', 'eventType=x', 'start=yesterday', 'end=99999999999999'])(
    '[GET /events/webhooks/{webhookID}/deliveries] refuses ?%s',
    async (query) => {
      expect((await api.call('GET', `/events/webhooks/${await idOf()}/deliveries?${query}`)).status).toBe(400)
    },
  )

  it.each(['start=x', 'start=2026-01-02T00:00:00Z&end=2026-01-01T00:00:00Z'])(
    '[GET /events/webhooks/{webhookID}/stats] refuses ?%s',
    async (query) => {
      expect((await api.call('GET', `/events/webhooks/${await idOf()}/stats?${query}`)).status).toBe(400)
    },
  )
})
