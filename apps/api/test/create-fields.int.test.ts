import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, type Answer, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
})
afterAll(() => world[Symbol.asyncDispose]())

const create = (url: string, body: object, headers: Record<string, string> = {}): Promise<Answer> =>
  api.call('POST', url, { body: { templateID: 'base', ...body }, headers })
const show = async (id: string): Promise<Answer['body']> => (await api.call('GET', `/sandboxes/${id}`)).body
const rowOf = (id: string) => world.database.db.selectFrom('sandbox').selectAll().where('sandbox_id', '=', id).executeTakeFirstOrThrow()
const connect = (id: string): Promise<Answer> => api.call('POST', `/v2/sandboxes/${id}/connect`)
const seedHmac = (text: string): string => createHmac('sha256', api.ctx.installation.tokenSeed.reveal()).update(text).digest('hex')

const OPEN = { allowPublicTraffic: true, allowOut: [], denyOut: [] }

describe.each(['/sandboxes', '/v2/sandboxes'])('[POST /sandboxes] [POST /v2/sandboxes] the fields that %s stores and shows', (url) => {
  it.each<[object, object, object]>([
    [{}, { autoResume: false, onTimeout: 'kill' }, { auto_pause: false, auto_pause_memory: true, auto_resume: false }],
    [{ autoPause: false }, { autoResume: false, onTimeout: 'kill' }, { auto_pause: false }],
    [{ autoPause: true }, { autoResume: false, onTimeout: 'pause' }, { auto_pause: true, auto_pause_memory: true }],
    [{ autoPause: true, autoPauseMemory: false }, { autoResume: false, onTimeout: 'pause' }, { auto_pause_memory: false }],
    [{ autoPause: true, autoPauseMemory: true }, { autoResume: false, onTimeout: 'pause' }, { auto_pause_memory: true }],
    [{ autoResume: { enabled: true } }, { autoResume: true, onTimeout: 'kill' }, { auto_resume: true }],
    [{ autoResume: { enabled: false } }, { autoResume: false, onTimeout: 'kill' }, { auto_resume: false }],
    [{ autoPause: true, autoResume: { enabled: true } }, { autoResume: true, onTimeout: 'pause' }, { auto_resume: true }],
  ])('%j has the lifecycle %j', async (body, lifecycle, stored) => {
    const { body: sandbox } = await create(url, body)
    expect((await show(sandbox.sandboxID)).lifecycle).toEqual(lifecycle)
    expect(await rowOf(sandbox.sandboxID)).toMatchObject(stored)
  })

  it.each([
    [20, 300],
    [300, 300],
    [4000, 4000],
  ])('a timeout of %i s gives %i s after a resume by traffic, also after it was changed', async (timeout, seconds) => {
    const { sandboxID } = (await create(url, { timeout, autoResume: { enabled: true } })).body
    await api.call('POST', `/sandboxes/${sandboxID}/timeout`, { body: { timeout: 5000 } })
    expect((await rowOf(sandboxID)).auto_resume_seconds).toBe(seconds)
  })

  it.each<[object, object]>([
    [{}, OPEN],
    [{ network: {} }, OPEN],
    [{ network: { allowPublicTraffic: null, egressProxy: null, allowOut: [], denyOut: [], dnsServers: [], rules: {} } }, OPEN],
    [{ network: { allowPublicTraffic: true } }, OPEN],
    [
      { secure: true, network: { allowPublicTraffic: false } },
      { ...OPEN, allowPublicTraffic: false },
    ],
    [{ network: { maskRequestHost: 'localhost:${PORT}' } }, { ...OPEN, maskRequestHost: 'localhost:${PORT}' }],
    [{ network: { httpsPorts: [8443, 443, 8443] } }, { ...OPEN, httpsPorts: [8443, 443] }],
    [{ network: { httpsPorts: [] } }, OPEN],
    [{ network: { allowOut: ['1.1.1.1', '8.8.8.0/24'] } }, { ...OPEN, allowOut: ['1.1.1.1', '8.8.8.0/24'] }],
  ])('%j has the network %j', async (body, network) => {
    const { sandboxID } = (await create(url, body)).body
    expect((await show(sandboxID)).network).toEqual(network)
  })

  it('gives a traffic token exactly when public traffic is off, on create and connect, and never on GET', async () => {
    const closed = (await create(url, { secure: true, network: { allowPublicTraffic: false } })).body
    expect(closed.trafficAccessToken).toBe(seedHmac(`sandbox-traffic-${closed.sandboxID}`))
    expect((await connect(closed.sandboxID)).body).toEqual(closed)
    expect(await show(closed.sandboxID)).not.toHaveProperty('trafficAccessToken')
    const open = (await create(url, { secure: true, network: { allowPublicTraffic: true } })).body
    expect(open).not.toHaveProperty('trafficAccessToken')
    expect((await connect(open.sandboxID)).body).not.toHaveProperty('trafficAccessToken')
  })

  it('gives the same traffic token again for an Idempotency-Key', async () => {
    const body = { secure: true, network: { allowPublicTraffic: false } }
    const key = { 'idempotency-key': `traffic${url.replaceAll('/', '-')}` }
    const first = await create(url, body, key)
    await api.call('DELETE', `/sandboxes/${first.body.sandboxID}`)
    expect((await create(url, body, key)).body).toEqual(first.body)
    expect(first.body.trafficAccessToken).toMatch(/^[0-9a-f]{64}$/)
  })

  it('stores mcp, and shows the names of its servers in the history', async () => {
    const mcp = { github: { token: 'hush' }, browser: {} }
    const { sandboxID } = (await create(url, { mcp })).body
    expect((await rowOf(sandboxID)).mcp).toEqual(mcp)
    const { data } = await world.database.db
      .selectFrom('event')
      .select('data')
      .where('subject', '=', sandboxID)
      .where('kind', '=', 'sandbox.starting')
      .executeTakeFirstOrThrow()
    expect((data['mcp'] as string[]).toSorted()).toEqual(['browser', 'github'])
    expect(JSON.stringify(data)).not.toContain('hush')
  })

  it.each<[string, object]>([
    ['network.allowOut', { network: { allowOut: ['example.com'], denyOut: ['0.0.0.0/0'] } }],
    ['network.egressProxy', { network: { egressProxy: { address: 'proxy.example.com:1080', tls: { enabled: true } } } }],
    ['network.dnsServers', { network: { dnsServers: ['1.1.1.1'] } }],
    ['network.rules', { network: { rules: { 'a.com': [{ transform: { headers: { a: 'b' } } }] } } }],
  ])('answers 501 with the name of the field and stores nothing for %s', async (field, body) => {
    const metadata = { unsupported: url + field }
    const answer = await create(url, { ...body, metadata })
    const message = `This server does not support the field '${field}' yet: leave it out or at its default.`
    expect(answer.body).toEqual({ code: 501, message })
    const query = new URLSearchParams({ metadata: new URLSearchParams(metadata).toString() })
    expect((await api.call('GET', `/v2/sandboxes?${query.toString()}`)).body).toEqual([])
    expect(await api.ctx.metrics.registry.metrics()).toContain(`field="${field}"`)
  })

  it('accepts unsupported fields with their default values', async () => {
    const defaults = { allow_internet_access: true, network: OPEN, mcp: null, iam: {}, volumeMounts: [], metadata: {}, envVars: {} }
    const answer = await create(url, defaults)
    expect(answer.status).toBe(201)
    expect((await show(answer.body.sandboxID)).allowInternetAccess).toBe(true)
  })
})

describe.each(['/sandboxes', '/v2/sandboxes'])('[POST /sandboxes] [POST /v2/sandboxes] the settings of a sandbox of %s', (url) => {
  const ask = (id: string, action: string, body: object = {}): Promise<Answer> => api.call('POST', `/sandboxes/${id}/${action}`, { body })
  const SETTINGS = ['lifecycle', 'network', 'allowInternetAccess', 'metadata', 'envdAccessToken'] as const
  const settingsOf = async (id: string): Promise<object> => {
    const detail = await show(id)
    return Object.fromEntries(SETTINGS.map((name) => [name, detail[name]]))
  }
  const full = {
    secure: true,
    timeout: 600,
    autoPause: true,
    autoResume: { enabled: true },
    allow_internet_access: true,
    metadata: { a: 'b' },
    mcp: { github: {} },
    iam: { tokens: { aws: { audience: 'sts.amazonaws.com', tokenType: 'JWT-SVID' } } },
    network: { allowPublicTraffic: false, maskRequestHost: 'localhost', httpsPorts: [8443], allowOut: ['1.1.1.1'] },
  }

  const IAM = { aws: { audience: 'sts.amazonaws.com' } }

  it('stay over pauses, resumes and network updates, and so do its tokens', async () => {
    const made = (await create(url, full)).body
    const id = made.sandboxID
    await api.call('PUT', `/sandboxes/${id}/network`, { body: { allowOut: ['8.8.8.8'] } })
    const settings = await settingsOf(id)
    const kept = { maskRequestHost: 'localhost', httpsPorts: [8443], allowPublicTraffic: false }
    expect(settings).toMatchObject({ network: { allowOut: ['8.8.8.8'], ...kept } })
    for (const again of ['resume', 'connect'] as const) {
      expect((await ask(id, 'pause', { memory: again === 'resume' })).status).toBe(204)
      expect(await show(id)).toMatchObject({ ...settings, state: 'paused', pauseMode: again === 'resume' ? 'full' : 'filesystem' })
      const answer = await ask(id, again, { timeout: 60 })
      expect([answer.status, answer.body]).toEqual([201, made])
      expect(await settingsOf(id)).toEqual(settings)
      expect(await show(id)).not.toHaveProperty('pauseMode')
    }
    expect(await rowOf(id)).toMatchObject({ mcp: { github: {} }, iam: IAM, auto_resume_seconds: 600 })
  })

  it('are those of its forks, whose tokens are their own', async () => {
    const made = (await create(url, full)).body
    const answer = await ask(made.sandboxID, 'fork', { count: 2, timeout: 60 })
    expect(answer.status).toBe(201)
    const { envdAccessToken, ...settings } = (await settingsOf(made.sandboxID)) as Record<string, unknown>
    expect(answer.body).toHaveLength(2)
    for (const { sandbox } of answer.body) {
      expect(sandbox.trafficAccessToken).toBe(seedHmac(`sandbox-traffic-${sandbox.sandboxID}`))
      expect(sandbox.envdAccessToken).not.toBe(envdAccessToken)
      expect((await rowOf(sandbox.sandboxID)).iam).toEqual(IAM)
      expect(await settingsOf(sandbox.sandboxID)).toEqual({ ...settings, envdAccessToken: sandbox.envdAccessToken })
    }
  })

  it('show that the daemon did not answer at the pause, until it runs again', async () => {
    const id = (await create(url, {})).body.sandboxID
    expect(await show(id)).not.toHaveProperty('envdUnresponsiveAtPause')
    world.daemon.isResponsive = false
    try {
      expect((await ask(id, 'pause')).status).toBe(204)
    } finally {
      world.daemon.isResponsive = true
    }
    expect(await show(id)).toMatchObject({ envdUnresponsiveAtPause: true })
    const { body } = await api.call('GET', '/v2/sandboxes?state=paused')
    expect(body.find(({ sandboxID }: { sandboxID: string }) => sandboxID === id)).toMatchObject({ envdUnresponsiveAtPause: true })
    expect((await ask(id, 'connect', { timeout: 60, memory: false })).status).toBe(201)
    expect(await show(id)).not.toHaveProperty('envdUnresponsiveAtPause')
  })
})

describe('the order of the checks', () => {
  const unserved = { network: { dnsServers: ['1.1.1.1'] } }
  it.each<[object, string]>([
    [{ templateID: 'nothing', timeout: 0 }, "template 'nothing' not found"],
    [{ timeout: 0, autoPauseMemory: false }, 'Timeout must be greater than 0'],
    [
      { autoPauseMemory: false, iam: { tokens: { '': { audience: 'a', tokenType: 'b' } } } },
      'autoPauseMemory=false only applies when autoPause is true.',
    ],
    [
      { iam: { tokens: { '': { audience: 'a', tokenType: 'b' } } }, network: { denyOut: ['a'] } },
      'iam.tokens: token name must not be empty',
    ],
    [{ secure: false, network: { denyOut: ['a'], allowPublicTraffic: false } }, 'invalid denied CIDR a'],
    [
      { secure: false, network: { denyOut: ['1.1.1.1'], allowPublicTraffic: false } },
      "You cannot create a sandbox without public access unless you enable secure envd access via 'secure' flag.",
    ],
    [{ ...unserved, mcp: { a: '\0' } }, 'validation error: mcp must not contain NUL or unpaired surrogates'],
    [{ mcp: { '\ud800': 1 } }, 'validation error: mcp must not contain NUL or unpaired surrogates'],
    [{ mcp: { a: ['x'.repeat(64 * 1024)] } }, 'validation error: mcp must not have more than 64 KiB'],
  ])('%j is refused with the first error', async (body, message) => {
    expect((await create('/v2/sandboxes', { ...unserved, ...body })).body).toMatchObject({ message })
  })

  it('refuses a closed sandbox that the first generation leaves unsecured by default', async () => {
    expect((await create('/sandboxes', { network: { allowPublicTraffic: false } })).status).toBe(400)
    expect((await create('/v2/sandboxes', { network: { allowPublicTraffic: false } })).status).toBe(201)
  })
})
