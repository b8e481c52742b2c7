import { X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StoredNetwork } from '@sandyard/db/schema/sandbox'
import { sandboxAuthority } from '@sandyard/egress-ca/sandbox-authority'
import { DEFAULT_EGRESS, type EgressPolicy } from '@sandyard/runtime/types'
import { createWorld, type Answer, type Server, type World } from './support/control-plane.ts'

const GATEWAY = '172.30.0.1'
const HOSTS: Readonly<Record<string, readonly string[]>> = {
  'proxy.example.com': ['203.0.113.9'],
  'inside.example.com': ['203.0.113.9', '10.0.0.1'],
  'mapped.example.com': ['::ffff:192.168.0.1'],
  'six.example.com': ['2001:db8::1'],
}

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({
    capabilities: { egressGateway: GATEWAY },
    env: { SANDYARD_MAX_SANDBOXES: '1000' },
    lookupHost: async (name) => HOSTS[name] ?? Promise.reject(new Error('ENOTFOUND')),
  })
})
afterAll(() => world[Symbol.asyncDispose]())

const create = (body: object = {}, url = '/v2/sandboxes'): Promise<Answer> =>
  api.call('POST', url, { body: { templateID: 'base', ...body } })
const createId = async (body: object = {}): Promise<string> => (await create(body)).body.sandboxID
const ask = (id: string, action: string, body: object = {}): Promise<Answer> => api.call('POST', `/sandboxes/${id}/${action}`, { body })
const put = (id: string, body: object): Promise<Answer> => api.call('PUT', `/sandboxes/${id}/network`, { body })
const show = async (id: string): Promise<Answer['body']> => (await api.call('GET', `/sandboxes/${id}`)).body
const engineSandbox = (id: string) => {
  const found = [...world.engine.sandboxes.values()].find(({ spec }) => spec.sandboxId === id)
  if (found === undefined) throw new Error(`${id} is not on the engine`)
  return found
}
const inForce = (id: string): EgressPolicy => engineSandbox(id).egress
const storedOf = async (id: string): Promise<StoredNetwork> =>
  (await world.database.db.selectFrom('sandbox').select('network').where('sandbox_id', '=', id).executeTakeFirstOrThrow()).network
const lastInit = (id: string) => world.daemon.inits.findLast((init) => (init['identity'] as { sandboxID: string }).sandboxID === id)
const authority = (id: string): string => sandboxAuthority(api.ctx.installation.tokenSeed, id).certificatePem

const OPEN = { allowPublicTraffic: true, allowOut: [], denyOut: [] }
const CLOSED = { ...DEFAULT_EGRESS, allowInternet: false }
const HEADERS = { Authorization: 'Bearer hush', 'X-A': 'b' }
const RULES = { 'API.Example.com': [{ transform: { headers: HEADERS } }], '*.b.com': [], 'c.com': [{}] }
const SHOWN_RULES = { 'api.example.com': [{ transform: { headers: HEADERS } }], '*.b.com': [], 'c.com': [] }
const PROXY = { address: 'Proxy.Example.com:1080', username: 'u', password: 'hush', tls: { enabled: true, serverName: 'p.com' } }
const SHOWN_PROXY = { address: 'proxy.example.com:1080', username: 'u', tls: { enabled: true, serverName: 'p.com' } }

/** Egress of a request, what GET shows of it, and the policy of the runtime. */
const POLICIES: readonly [object, object, Partial<EgressPolicy>][] = [
  [{ allowOut: ['1.1.1.1'] }, { allowOut: ['1.1.1.1'] }, { allowOut: ['1.1.1.1'] }],
  [{ denyOut: ['1.2.3.0/24', '::/0'] }, { denyOut: ['1.2.3.0/24', '::/0'] }, { denyOut: ['1.2.3.0/24'] }],
  [{ denyOut: ['0.0.0.0/0'] }, { denyOut: ['0.0.0.0/0'] }, CLOSED],
  [
    { allowOut: ['Example.com', '1.1.1.1'], denyOut: ['0.0.0.0/0'], dnsServers: ['9.9.9.9'] },
    { allowOut: ['Example.com', '1.1.1.1'], denyOut: ['0.0.0.0/0'], dnsServers: ['9.9.9.9'] },
    { ...CLOSED, allowOut: ['1.1.1.1'], gateway: 'names', filterLookups: true },
  ],
  [{ rules: RULES }, { rules: SHOWN_RULES }, { gateway: 'web' }],
  [{ egressProxy: PROXY }, { egressProxy: SHOWN_PROXY }, { gateway: 'all' }],
  [
    { egressProxy: { address: '203.0.113.9:1080', tls: { enabled: false } } },
    { egressProxy: { address: '203.0.113.9:1080' } },
    { gateway: 'all' },
  ],
]

describe.each(['/sandboxes', '/v2/sandboxes'])('[POST /sandboxes] [POST /v2/sandboxes] a sandbox of %s with egress', (url) => {
  it.each(POLICIES)('%j shows %j and starts with %j', async (network, shown, policy) => {
    const { sandboxID } = (await create({ network }, url)).body
    expect((await show(sandboxID)).network).toEqual({ ...OPEN, ...shown })
    expect(engineSandbox(sandboxID).spec.egress).toEqual({ ...DEFAULT_EGRESS, ...policy })
  })

  it.each([
    [{ allow_internet_access: false }, CLOSED],
    [{ allow_internet_access: true }, DEFAULT_EGRESS],
    [
      { allow_internet_access: false, network: { allowOut: ['1.1.1.1'] } },
      { ...CLOSED, allowOut: ['1.1.1.1'] },
    ],
    [{ allow_internet_access: true, network: { denyOut: ['0.0.0.0/0'] } }, CLOSED],
  ])('%j starts with %j', async (body, policy) => {
    const { sandboxID } = (await create(body, url)).body
    expect(engineSandbox(sandboxID).spec.egress).toEqual(policy)
    expect((await show(sandboxID)).allowInternetAccess).toBe(body.allow_internet_access)
  })
})

describe('[PUT /sandboxes/{sandboxID}/network] of a running and of a paused sandbox', () => {
  it.each(POLICIES)('%j shows %j and puts %j in force', async (network, shown, policy) => {
    for (const isPaused of [false, true]) {
      const id = await createId({ network: { rules: { 'old.com': [] }, egressProxy: PROXY, dnsServers: ['8.8.4.4'] } })
      if (isPaused) expect((await ask(id, 'pause')).status).toBe(204)
      expect(await put(id, network)).toMatchObject({ status: 204, text: '' })
      expect((await show(id)).network).toEqual({ ...OPEN, ...shown })
      expect(inForce(id)).toEqual({ ...DEFAULT_EGRESS, ...policy })
    }
  })

  it('without allow_internet_access denies nothing, although the flag stays', async () => {
    const id = await createId({ allow_internet_access: false })
    expect(inForce(id)).toEqual(CLOSED)
    expect((await put(id, {})).status).toBe(204)
    expect([inForce(id), (await show(id)).allowInternetAccess]).toEqual([DEFAULT_EGRESS, false])
    expect((await put(id, { allow_internet_access: false, allowOut: ['1.1.1.1'] })).status).toBe(204)
    expect(inForce(id)).toEqual({ ...CLOSED, allowOut: ['1.1.1.1'] })
    expect((await put(id, { allow_internet_access: true })).status).toBe(204)
    expect([inForce(id), (await show(id)).allowInternetAccess]).toEqual([DEFAULT_EGRESS, true])
  })

  it('stores the secrets of the proxy and the rules, and tells them to nobody', async () => {
    const id = await createId()
    await put(id, { egressProxy: PROXY, rules: RULES })
    expect(await storedOf(id)).toMatchObject({
      egressProxy: { address: 'proxy.example.com:1080', username: 'u', password: 'hush', tls: { serverName: 'p.com' } },
      rules: { 'api.example.com': { headers: HEADERS }, '*.b.com': { headers: {} } },
    })
    const events = await world.database.db.selectFrom('event').select('data').where('subject', '=', id).execute()
    const logs = await world.database.db.selectFrom('sandbox_log').selectAll().where('sandbox_id', '=', id).execute()
    expect(JSON.stringify([events, logs])).not.toContain('hush')
    expect(JSON.stringify(events)).toContain('api.example.com')
    // The header values are those of the team; the password of the proxy is never shown (control-plane.md 6.1.4).
    expect(JSON.stringify((await show(id)).network.egressProxy)).not.toContain('hush')
    expect((await api.call('GET', '/v2/sandboxes')).text).not.toContain('hush')
    await put(id, { egressProxy: { address: PROXY.address } })
    expect((await storedOf(id)).egressProxy).toEqual({ address: 'proxy.example.com:1080' })
  })

  it.each([
    ['nothing.example.com:1080', 'the name of the address cannot be resolved'],
    ['inside.example.com:1080', 'the address is internal'],
    ['mapped.example.com:1080', 'the address is internal'],
    ['six.example.com:1080', 'the name of the address has no IPv4 address'],
    ['[2001:db8::1]:1080', 'the address must be IPv4 or a name'],
  ])('refuses the proxy %s', async (address, problem) => {
    const refused = { code: 400, message: `Invalid egress proxy config: ${problem}` }
    const id = await createId()
    expect((await put(id, { egressProxy: { address } })).body).toEqual(refused)
    expect((await create({ network: { egressProxy: { address } } })).body).toEqual(refused)
    expect((await show(id)).network).toEqual(OPEN)
  })

  it.each(['${e2b.secrets.key}', 'Bearer ${e2b.identity.tokens.t}'])(
    'stores and shows the placeholder %s as it was written',
    async (value) => {
      const rules = { 'a.com': [{ transform: { headers: { a: value } } }] }
      const id = await createId()
      expect((await put(id, { rules })).status).toBe(204)
      expect((await show(id)).network.rules).toEqual(rules)
      expect((await show(await createId({ network: { rules } }))).network.rules).toEqual(rules)
    },
  )
})

describe('the egress of a sandbox', () => {
  const network = { allowOut: ['a.com'], denyOut: ['0.0.0.0/0'], rules: RULES, egressProxy: PROXY, maskRequestHost: 'localhost' }
  const policy: EgressPolicy = { ...CLOSED, gateway: 'all', filterLookups: true }

  it.each([true, false])('stays over a pause (memory: %s), an update while it is paused, and a resume', async (memory) => {
    const id = await createId({ network, allow_internet_access: false })
    const { network: shown } = await show(id)
    expect((await ask(id, 'pause', { memory })).status).toBe(204)
    expect((await show(id)).network).toEqual(shown)
    expect((await ask(id, 'connect', { timeout: 60 })).status).toBe(201)
    expect([await show(id), inForce(id)]).toMatchObject([{ network: shown, allowInternetAccess: false }, policy])
    expect((await ask(id, 'pause', { memory })).status).toBe(204)
    expect((await put(id, { denyOut: ['1.1.1.1'] })).status).toBe(204)
    expect((await ask(id, 'resume', { timeout: 60 })).status).toBe(201)
    expect((await show(id)).network).toEqual({ ...OPEN, denyOut: ['1.1.1.1'], maskRequestHost: 'localhost' })
    expect(inForce(id)).toEqual({ ...DEFAULT_EGRESS, denyOut: ['1.1.1.1'] })
  })

  it('is that of its forks, which have authorities of their own, and not of what is created from its snapshot', async () => {
    const id = await createId({ network })
    await put(id, { ...network, allow_internet_access: false })
    const { body: forks } = await ask(id, 'fork', { count: 2, timeout: 60 })
    for (const { sandbox } of forks) {
      expect(await show(sandbox.sandboxID)).toMatchObject({ network: (await show(id)).network, allowInternetAccess: false })
      expect(engineSandbox(sandbox.sandboxID).spec.egress).toEqual(policy)
      expect(lastInit(sandbox.sandboxID)).toMatchObject({ caBundle: authority(sandbox.sandboxID) })
    }
    // A later update of the fork is its own.
    await put(forks[0].sandbox.sandboxID, {})
    expect(inForce(id)).toEqual(policy)
    const { body: snapshot } = await ask(id, 'snapshots', {})
    const restored = await createId({ templateID: snapshot.snapshotID })
    expect((await show(restored)).network).toEqual(OPEN)
    expect(engineSandbox(restored).spec.egress).toEqual(DEFAULT_EGRESS)
  })
})

it('has its address in the row before its start command runs when the gateway decides on its connections', async () => {
  const starting = async (network: object): Promise<{ readonly host: string | null; readonly created: Promise<Answer> }> => {
    world.daemon.answers.push('hang')
    const created = create({ network })
    await expect.poll(() => world.daemon.answers.length).toBe(0)
    const row = await world.database.db
      .selectFrom('sandbox')
      .select('endpoint_host')
      .where('state', '=', 'starting')
      .executeTakeFirstOrThrow()
    return { host: row.endpoint_host, created }
  }
  for (const [network, host] of [
    [{ allowOut: ['a.com'], denyOut: ['0.0.0.0/0'] }, '127.0.0.1'],
    [{ allowOut: ['1.1.1.1'] }, null],
  ] as const) {
    const found = await starting(network)
    expect(found.host).toBe(host)
    expect((await found.created).status).toBe(201)
  }
})

describe('the authority of a sandbox with rules', () => {
  it('is trusted before the start command, and not given to others', async () => {
    const id = await createId({ network: { rules: RULES } })
    expect(lastInit(id)).toMatchObject({ caBundle: authority(id) })
    expect(new X509Certificate(authority(id)).subject).toBe(`CN=Sandyard egress ${id}`)
    expect(lastInit(await createId({ network: { allowOut: ['1.1.1.1'] } }))).not.toHaveProperty('caBundle')
  })

  it('is trusted from an update on, which keeps the variables and the token', async () => {
    const id = await createId({ secure: true, envVars: { A: '1' } })
    const { identity, accessToken } = lastInit(id) ?? {}
    expect((await put(id, { rules: RULES })).status).toBe(204)
    expect(lastInit(id)).toEqual({ identity, accessToken, caBundle: authority(id) })
    const count = world.daemon.inits.length
    expect((await put(id, { denyOut: ['1.1.1.1'] })).status).toBe(204)
    expect(world.daemon.inits).toHaveLength(count)
  })

  it.each([true, false])('is trusted after a resume (memory: %s) when the update came while it was paused', async (memory) => {
    const id = await createId()
    await ask(id, 'pause', { memory })
    expect((await put(id, { rules: RULES })).status).toBe(204)
    expect(lastInit(id)).not.toHaveProperty('caBundle')
    expect((await ask(id, 'connect', { timeout: 60 })).status).toBe(201)
    expect(lastInit(id)).toMatchObject({ caBundle: authority(id) })
  })

  it('refuses rules where the sandbox has no trust store, and a resume with memory goes on', async () => {
    const problem = 'network rules need the file /etc/ssl/certs/ca-certificates.crt in the sandbox, which is missing or cannot be written'
    const noStore = { status: 400, text: 'failed to install CA bundle: open CA bundle: open /etc/ssl: no such file or directory' }
    world.daemon.answers.push(noStore)
    expect((await create({ network: { rules: RULES } })).body).toMatchObject({ code: 500, message: `Failed to place sandbox: ${problem}` })
    const id = await createId()
    world.daemon.answers.push(noStore)
    expect((await put(id, { rules: RULES, denyOut: ['1.1.1.1'] })).body).toEqual({ code: 400, message: problem })
    expect([await storedOf(id), inForce(id)]).toEqual([{}, DEFAULT_EGRESS])
    await put(id, { rules: RULES })
    await ask(id, 'pause')
    world.daemon.answers.push(noStore)
    expect((await ask(id, 'connect', { timeout: 60 })).status).toBe(201)
  })
})
