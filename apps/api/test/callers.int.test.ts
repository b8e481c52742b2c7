import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, createWorld, waitFor, type Server, type World } from './support/control-plane.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const EXCEEDED = { code: 429, message: 'Rate limit exceeded' }
const unknownKey = (): string => `e2b_${randomBytes(20).toString('hex')}`

interface Caller {
  readonly headers?: Record<string, string>
  readonly remoteAddress?: string
}

async function get(api: Server, url: string, { headers = {}, remoteAddress = '192.0.2.1' }: Caller = {}) {
  const answer = await api.app.inject({ method: 'GET', url, headers, remoteAddress })
  return { status: answer.statusCode, headers: answer.headers, body: answer.body === '' ? undefined : (JSON.parse(answer.body) as unknown) }
}

describe('rate limits', () => {
  let api: Server
  beforeAll(async () => {
    api = await world.startServer({ env: { SANDYARD_RATE_LIMITS: 'listNodes=1/60:2,listSandboxes=1/60:2' } })
  })

  it('count requests without a team by client address', async () => {
    const admin = { headers: { 'x-admin-token': ADMIN_TOKEN } }
    const answers = [await get(api, '/nodes', admin), await get(api, '/nodes', admin), await get(api, '/nodes', admin)]
    expect(answers.map(({ status, headers }) => [status, headers['ratelimit-remaining']])).toEqual([
      [200, '1'],
      [200, '0'],
      [429, '0'],
    ])
    expect(answers[2]).toMatchObject({
      body: EXCEEDED,
      headers: { 'retry-after': expect.stringMatching(/^(5\d|60)$/), 'ratelimit-limit': '2' },
    })
    expect((await get(api, '/nodes', { ...admin, remoteAddress: '192.0.2.2' })).status).toBe(200)
  })

  it('count requests with an invalid body or query', async () => {
    const limited = await world.startServer({ env: { SANDYARD_RATE_LIMITS: 'createSandboxV2=1/60:2,listSandboxesV2=1/60:1' } })
    const create = async (payload: string) =>
      (
        await limited.app.inject({
          method: 'POST',
          url: '/v2/sandboxes',
          headers: { 'x-api-key': world.credentials.apiKey, 'content-type': 'application/json' },
          payload,
        })
      ).statusCode
    expect([await create('{'), await create('{"templateID":1}'), await create('{'), await create('{"templateID":1}')]).toEqual([
      400, 400, 429, 429,
    ])
    const list = (): Promise<{ status: number }> =>
      get(limited, '/v2/sandboxes?limit=none', { headers: { 'x-api-key': world.credentials.apiKey } })
    expect([(await list()).status, (await list()).status]).toEqual([400, 429])
  })

  it('count refused credentials, and count an IPv6 network as one client', async () => {
    const addresses = ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:ffff::', '2001:db8:0:1::']
    const statuses: number[] = []
    for (const remoteAddress of addresses) statuses.push((await get(api, '/sandboxes', { remoteAddress })).status)
    expect(statuses).toEqual([401, 401, 429, 401])
  })

  it('use the forwarded address of a trusted proxy only', async () => {
    const behind = await world.startServer({
      env: { SANDYARD_RATE_LIMITS: 'listNodes=1/60:1', SANDYARD_TRUSTED_PROXIES: '10.0.0.0/8' },
    })
    const admin = { 'x-admin-token': ADMIN_TOKEN }
    const through = (client: string, remoteAddress: string) =>
      get(behind, '/nodes', { headers: { ...admin, 'x-forwarded-for': client }, remoteAddress })
    expect((await through('192.0.2.1', '10.1.2.3')).status).toBe(200)
    expect((await through('192.0.2.1', '10.1.2.4')).status).toBe(429)
    expect((await through('192.0.2.2', '10.1.2.3')).status).toBe(200)
    expect((await through('192.0.2.3', '198.51.100.1')).status).toBe(200)
    expect((await through('192.0.2.4', '198.51.100.1')).status).toBe(429)
  })
})

describe('refused credentials', () => {
  it('of one address are limited, while other addresses and known keys are served', async () => {
    const api = await world.startServer({ env: { SANDYARD_FAILED_AUTH_LIMIT: '1/3600:3' } })
    const ours = { headers: { 'x-api-key': world.credentials.apiKey } }
    expect((await get(api, '/v2/sandboxes', ours)).status).toBe(200)
    const tries = []
    for (let n = 0; n < 5; n++) tries.push(await get(api, '/v2/sandboxes', { headers: { 'x-api-key': unknownKey() } }))
    expect(tries.map(({ status }) => status)).toEqual([401, 401, 401, 429, 429])
    expect(tries[4]).toMatchObject({ body: EXCEEDED, headers: { 'retry-after': expect.stringMatching(/^\d+$/) } })
    expect((await get(api, '/v2/sandboxes', ours)).status).toBe(200)
    expect((await get(api, '/v2/sandboxes', { remoteAddress: '192.0.2.9' })).status).toBe(401)
  })

  it('do not include requests without a credential of the operation', async () => {
    const api = await world.startServer({ env: { SANDYARD_FAILED_AUTH_LIMIT: '1/3600:1' } })
    for (let n = 0; n < 5; n++) {
      expect((await get(api, '/v2/sandboxes')).status).toBe(401)
      expect((await get(api, '/teams', { headers: { 'x-api-key': unknownKey() } })).status).toBe(401)
    }
    const wrong = { headers: { 'x-api-key': unknownKey() } }
    expect([(await get(api, '/v2/sandboxes', wrong)).status, (await get(api, '/v2/sandboxes', wrong)).status]).toEqual([401, 429])
  })

  it('follow changes of a key: a key issued later is accepted, a withdrawn key is refused', async () => {
    const api = await world.startServer({ loops: true })
    expect((await get(api, '/v2/sandboxes', { headers: { 'x-api-key': unknownKey() } })).status).toBe(401)
    const withdrawn = { headers: { 'x-api-key': world.credentials.apiKey } }
    expect((await get(api, '/v2/sandboxes', withdrawn)).status).toBe(200)
    const { db } = world.database
    const row = await db.selectFrom('api_key').selectAll().where('team_id', '=', world.teamId).executeTakeFirstOrThrow()
    await db.deleteFrom('api_key').where('id', '=', row.id).execute()
    await waitFor('the withdrawn key to be refused', async () => (await get(api, '/v2/sandboxes', withdrawn)).status === 401)
    await db.insertInto('api_key').values(row).execute()
    await waitFor('the key to be accepted', async () => (await get(api, '/v2/sandboxes', withdrawn)).status === 200)
  })
})

describe('the host of a request', () => {
  const ask = async (api: Server, host: string, url = '/v2/sandboxes'): Promise<number> =>
    (await api.app.inject({ method: 'GET', url, headers: { host, 'x-api-key': world.credentials.apiKey } })).statusCode

  it('must be an address, localhost, a name without a dot, or a configured name', async () => {
    const api = await world.startServer({
      env: {
        SANDYARD_DOMAIN: 'sandboxes.test:3002',
        SANDYARD_API_URL: 'https://control.example.com',
        SANDYARD_ALLOWED_HOSTS: 'sandyard.lan,*.corp.example',
      },
    })
    const allowed = '127.0.0.1:3000 [::1]:3000 192.168.1.20 localhost api.localhost:3000 LOCALHOST sandyard api:3000 sandboxes.test'
    for (const host of `${allowed} api.sandboxes.test control.example.com sandyard.lan. sandyard.LAN:3000 a.b.corp.example`.split(' ')) {
      expect([host, await ask(api, host)]).toEqual([host, 200])
    }
    for (const host of [
      'evil.example',
      'sandboxes.test.evil.example',
      'notsandboxes.test',
      'corp.example',
      '127.0.0.1.evil.example:3000',
    ]) {
      expect([host, await ask(api, host)]).toEqual([host, 403])
      expect(await ask(api, host, '/health')).toBe(200)
    }
    const answer = await api.app.inject({ method: 'GET', url: '/v2/sandboxes', headers: { host: 'evil.example' } })
    expect(answer.json()).toEqual({
      code: 403,
      message: "This server does not answer to the name 'evil.example': the operator can add it to SANDYARD_ALLOWED_HOSTS",
    })
  })
})

describe('under pressure', () => {
  it('answers 503 with the error body at once, and still answers /health', async () => {
    const api = await world.startServer({ env: { SANDYARD_MAX_EVENT_LOOP_DELAY: '20ms' } })
    const key = { 'x-api-key': world.credentials.apiKey }
    let refused: unknown
    await waitFor('a refusal', async () => {
      const until = performance.now() + 100
      while (performance.now() < until);
      const answer = await api.app.inject({ method: 'GET', url: '/v2/sandboxes', headers: key })
      if (answer.statusCode === 503) refused = { body: answer.json(), retryAfter: answer.headers['retry-after'] }
      if (refused !== undefined) expect((await api.app.inject({ method: 'GET', url: '/health' })).statusCode).toBe(200)
      return refused !== undefined
    })
    expect(refused).toEqual({ body: { code: 503, message: 'The server is overloaded: try again' }, retryAfter: '1' })
    await waitFor(
      'the end of the overload',
      async () => (await api.app.inject({ method: 'GET', url: '/v2/sandboxes', headers: key })).statusCode === 200,
    )
  })
})
