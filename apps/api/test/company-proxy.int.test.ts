import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sandboxAuthority } from '@sandyard/egress-ca/sandbox-authority'
import { Secret } from '@sandyard/kit/config/secret'
import { randomId } from '@sandyard/kit/ids/ids'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { DIRECT, type Outbound } from '@sandyard/kit/outbound/outbound'
import { outboundRequest } from '@sandyard/kit/outbound/outbound-request'
import { BuildSandbox } from '../src/builds/engine/build-sandbox.ts'
import { newBuildSandboxId } from '../src/builds/queue/build-attempt.ts'
import { CompanyProxy } from './support/company-proxy.ts'
import { createWorld, type Answer, type Server, type World } from './support/control-plane.ts'

const PROXY_URL = 'http://me:hush@10.0.0.5:3128'
const PROXY = { HTTP_PROXY: PROXY_URL, https_proxy: PROXY_URL, NO_PROXY: 'localhost,127.0.0.1,::1,.corp.example' }
const BUNDLE = '/etc/ssl/certs/ca-certificates.crt'
const TRUST = { NODE_EXTRA_CA_CERTS: BUNDLE, REQUESTS_CA_BUNDLE: BUNDLE, SSL_CERT_FILE: BUNDLE }
const RULES = { rules: { 'api.example.com': [{ transform: { headers: { a: 'b' } } }] } }
const NO_STORE = { status: 400, text: `failed to install CA bundle: open CA bundle: open ${BUNDLE}: no such file or directory` }
const COMPANY = sandboxAuthority(new Secret('company'), 'company').certificatePem

let world: World
let api: Server
let folder: string
beforeAll(async () => {
  world = await createWorld()
  folder = await mkdtemp(join(tmpdir(), 'sandyard-company-'))
  await writeFile(join(folder, 'ca.pem'), COMPANY)
  api = await world.startServer({
    capabilities: { egressGateway: '172.30.0.1' },
    env: {
      SANDYARD_EXTRA_CA: join(folder, 'ca.pem'),
      SANDYARD_HTTP_PROXY: PROXY_URL,
      SANDYARD_NO_PROXY: '.corp.example',
      SANDYARD_MAX_SANDBOXES: '1000',
    },
  })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const create = (body: object = {}): Promise<Answer> => api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', ...body } })
const createId = async (body: object = {}): Promise<string> => (await create(body)).body.sandboxID
const ask = (id: string, action: string, body: object = {}): Promise<Answer> => api.call('POST', `/sandboxes/${id}/${action}`, { body })
const put = (id: string, body: object): Promise<Answer> => api.call('PUT', `/sandboxes/${id}/network`, { body })
const initsOf = (id: string) => world.daemon.inits.filter((init) => (init['identity'] as { sandboxID: string }).sandboxID === id)
const lastInit = (id: string) => initsOf(id).at(-1)
const own = (id: string): string => sandboxAuthority(api.ctx.installation.tokenSeed, id).certificatePem

describe('[POST /v2/sandboxes] behind the proxy of a company', () => {
  it('gives a sandbox the proxy and the authorities as defaults', async () => {
    expect(lastInit(await createId())).toMatchObject({ caBundle: COMPANY, envVars: { ...PROXY, ...TRUST } })
  })

  it('prefers the variables of the request, in either spelling', async () => {
    const { envVars } = lastInit(await createId({ envVars: { http_proxy: '', NODE_EXTRA_CA_CERTS: '/own.pem' } })) as {
      envVars: Record<string, string>
    }
    expect(envVars).toMatchObject({ http_proxy: '', NODE_EXTRA_CA_CERTS: '/own.pem', https_proxy: PROXY_URL, SSL_CERT_FILE: BUNDLE })
    expect(envVars).not.toHaveProperty('HTTP_PROXY')
  })

  it.each([
    { allow_internet_access: false },
    { network: { denyOut: ['192.0.2.0/24'] } },
    { network: { allowOut: ['a.com'], denyOut: ['0.0.0.0/0'] } },
    { network: RULES },
    { network: { egressProxy: { address: '203.0.113.9:1080' } } },
  ])('gives no proxy to a sandbox with %j', async (body) => {
    const init = lastInit(await createId(body))
    expect(init).toMatchObject({ envVars: TRUST })
    expect(JSON.stringify(init)).not.toContain('hush')
  })

  it('sends one bundle with the authorities of both', async () => {
    const id = await createId({ network: RULES })
    expect(lastInit(id)).toMatchObject({ caBundle: `${COMPANY}${own(id)}` })
    const later = await createId()
    expect((await put(later, RULES)).status).toBe(204)
    expect(lastInit(later)).toMatchObject({ caBundle: `${COMPANY}${own(later)}` })
    const count = initsOf(later).length
    expect((await put(later, { denyOut: ['192.0.2.0/24'] })).status).toBe(204)
    expect(initsOf(later)).toHaveLength(count)
  })

  it.each([true, false])('trusts the authorities after a resume (memory: %s)', async (memory) => {
    const id = await createId()
    await ask(id, 'pause', { memory })
    const count = initsOf(id).length
    expect((await ask(id, 'connect', { timeout: 60 })).status).toBe(201)
    expect(initsOf(id)).toHaveLength(count + 1)
    expect(lastInit(id)).toMatchObject({ caBundle: COMPANY })
    expect(lastInit(id)?.['envVars'] !== undefined).toBe(!memory)
  })

  it('starts a sandbox without a trust store, but not one with rules', async () => {
    world.daemon.answers.push(NO_STORE)
    const id = await createId()
    expect(initsOf(id)).toHaveLength(1)
    expect(lastInit(id)).not.toHaveProperty('caBundle')
    expect(lastInit(id)).toMatchObject({ envVars: PROXY })
    expect(lastInit(id)?.['envVars']).not.toHaveProperty('SSL_CERT_FILE')
    world.daemon.answers.push(NO_STORE)
    expect((await create({ network: RULES })).status).toBe(500)
  })

  it('stores the proxy nowhere and tells it to nobody', async () => {
    const id = await createId()
    const { db } = world.database
    const rows = await Promise.all([
      db.selectFrom('sandbox').selectAll().execute(),
      db.selectFrom('event').selectAll().execute(),
      db.selectFrom('sandbox_log').selectAll().execute(),
      db.selectFrom('build').selectAll().execute(),
    ])
    expect(rows[0].length).toBeGreaterThan(0)
    expect(JSON.stringify(rows)).not.toContain('hush')
    expect((await api.call('GET', `/sandboxes/${id}`)).text).not.toContain('hush')
  })
})

it('[POST /v2/sandboxes] without these settings gets no such variables', async () => {
  await using plain = await world.startServer()
  const id = (await plain.call('POST', '/v2/sandboxes', { body: { templateID: 'base', envVars: { A: '1' } } })).body.sandboxID
  expect(lastInit(id)).toMatchObject({ envVars: { A: '1' } })
  expect(Object.keys(lastInit(id)?.['envVars'] as object)).toEqual(['A'])
  expect(lastInit(id)).not.toHaveProperty('caBundle')
})

describe('the sandbox of a build', () => {
  async function open(change: Partial<Outbound> = {}): Promise<BuildSandbox> {
    const { outbound } = api.ctx.config
    const parts = { runtime: api.runtime, tokenSeed: new Secret('seed'), outbound: { ...outbound, ...change }, log: silentLogger() }
    const job = {
      buildId: randomUUID(),
      templateId: randomId(20),
      teamId: world.teamId,
      plan: { source: { kind: 'image' as const, reference: 'debian' }, steps: [], force: false },
      builderVersion: 'v2.1.0' as const,
      credentials: undefined,
      resources: { cpuCount: 1, memoryMib: 512, diskMib: 1024 },
      sandboxId: newBuildSandboxId(),
      log: { write: () => undefined, flush: async () => undefined },
    }
    const sandbox = new BuildSandbox(parts, job, AbortSignal.timeout(60_000))
    await sandbox.start('base:1')
    return sandbox
  }
  const trusting = expect.objectContaining({ caBundle: COMPANY, envVars: expect.objectContaining({ ...PROXY, ...TRUST }) })
  const removing = expect.objectContaining({ removeCaBundle: true })

  it('does not trust the authorities while an image is made of it', async () => {
    await using sandbox = await open()
    await sandbox.capture()
    expect(initsOf(sandbox.ref.sandboxId)).toEqual([trusting, removing, trusting])
  })

  it('trusts them from the first image on that has a trust store', async () => {
    world.daemon.answers.push(NO_STORE)
    await using sandbox = await open()
    expect(lastInit(sandbox.ref.sandboxId)).toMatchObject({ envVars: PROXY })
    expect(lastInit(sandbox.ref.sandboxId)).not.toHaveProperty('caBundle')
    await sandbox.capture()
    expect(initsOf(sandbox.ref.sandboxId).slice(1)).toEqual([removing, trusting])
  })

  it('makes no image when they cannot be removed', async () => {
    await using sandbox = await open()
    world.daemon.answers.push({ status: 400, text: 'failed to remove CA bundle: no space left on device' })
    const images = world.engine.images.size
    await expect(sandbox.capture()).rejects.toMatchObject({ kind: 'failed_precondition' })
    expect(world.engine.images.size).toBe(images)
  })

  it('is asked nothing without authorities', async () => {
    await using sandbox = await open({ extraCa: [] })
    await sandbox.capture()
    expect(initsOf(sandbox.ref.sandboxId)).toHaveLength(1)
  })
})

describe('a request of the server itself', () => {
  const CREDENTIALS = 'me:hush'
  const sites = { 'api.ecr.test': (path: string) => `you asked for ${path}` }
  const to = (proxy: CompanyProxy, change: Partial<Outbound> = {}, credentials = CREDENTIALS): Outbound => ({
    ...DIRECT,
    extraCa: [proxy.authority],
    httpProxy: { url: new Secret(`http://${credentials}@127.0.0.1:${proxy.port}`), host: '127.0.0.1', port: proxy.port },
    ...change,
  })
  const post = (outbound: Outbound, url: string) =>
    outboundRequest(outbound, new URL(url), { method: 'POST', headers: {}, body: '{}', signal: AbortSignal.timeout(20_000) })

  it('goes through the proxy and trusts its authority', async () => {
    await using proxy = await CompanyProxy.start({ credentials: CREDENTIALS, sites })
    expect(await post(to(proxy), 'https://api.ecr.test/a')).toEqual({ status: 200, text: 'you asked for /a' })
    expect(proxy.requests).toEqual(['CONNECT api.ecr.test:443', 'POST https://api.ecr.test/a'])
    expect((await post(to(proxy), 'http://nothing.test/')).status).toBe(404)
  })

  it('fails without the authority, without credentials, and without the proxy, and no error has the password', async () => {
    await using proxy = await CompanyProxy.start({ credentials: CREDENTIALS, sites })
    const failures = await Promise.all([
      post(to(proxy, { extraCa: [] }), 'https://api.ecr.test/').catch(String),
      post(to(proxy, {}, 'me:hush-hush'), 'https://api.ecr.test/').catch(String),
      post(to(proxy, { noProxy: ['.ecr.test'] }), 'https://api.ecr.test/').catch(String),
    ])
    expect(failures).toEqual([
      expect.stringMatching(/certificate/),
      expect.stringMatching(/407/),
      expect.stringMatching(/ENOTFOUND|EAI_AGAIN/),
    ])
    expect(JSON.stringify(failures)).not.toContain('hush')
    expect(proxy.refused).toBe(1)
  })
})
