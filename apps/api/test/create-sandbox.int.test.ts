import { seedIdentity } from '@sandyard/api/seed/seed-identity'
import { AppError } from '@sandyard/kit/errors/app-error'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, type Answer, type Server, type World } from './support/control-plane.ts'

const BUILD_ELSEWHERE = '00000000-0000-4000-8000-000000000000'

let world: World
let api: Server
let strangerKey: string
let strangerTeam: string

beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
  const stranger = await seedIdentity(world.database, { teamName: 'Strangers', email: 'stranger@acme.test' })
  strangerKey = stranger.credentials?.apiKey ?? ''
  strangerTeam = stranger.teamId
  await insertTemplate('ownerapp000000000000', { alias: 'app', namespace: 'acme', isPublic: false })
  await insertTemplate('sharedapp00000000000', { alias: 'shared', namespace: 'acme', isPublic: true })
  await insertTemplate('emptyapp000000000000', { alias: 'empty', namespace: 'acme', isPublic: true, builds: [] })
  await insertTemplate('shadowbase0000000000', { alias: 'base', namespace: 'strangers', isPublic: false, teamId: strangerTeam })
})
afterAll(() => world[Symbol.asyncDispose]())

/** Earlier sandboxes may end meanwhile. */
const engineSandboxes = (): Set<string> => new Set(world.engine.sandboxes.keys())

interface TemplateOptions {
  readonly alias: string
  readonly namespace: string
  readonly isPublic: boolean
  readonly teamId?: string
  readonly builds?: readonly string[]
}

/** A template with one ready build for each of its tags. */
async function insertTemplate(template_id: string, options: TemplateOptions): Promise<void> {
  const { alias, namespace, isPublic, teamId = world.teamId, builds = ['default', 'v1'] } = options
  const { db } = world.database
  await db.insertInto('template').values({ template_id, team_id: teamId, source: 'template', is_public: isPublic }).execute()
  await db.insertInto('template_alias').values({ alias, namespace, template_id }).execute()
  const shape = { cpu_count: 1, memory_mib: 512, disk_mib: 1024, default_user: 'user', default_workdir: '/home/user' }
  for (const tag of builds) {
    const { build_id } = await db
      .insertInto('build')
      .values({ template_id, status: 'ready', image: `${alias}:${tag}`, envd_version: '0.6.13', ...shape })
      .returning('build_id')
      .executeTakeFirstOrThrow()
    await db.insertInto('tag_assignment').values({ template_id, build_id, tag }).execute()
  }
  const { build_id } = await db
    .insertInto('build')
    .values({ template_id, status: 'building', ...shape })
    .returning('build_id')
    .executeTakeFirstOrThrow()
  await db.insertInto('tag_assignment').values({ template_id, build_id, tag: 'default' }).execute()
}

const create = (body: object, options: { apiKey?: string; url?: string } = {}): Promise<Answer> =>
  api.call('POST', options.url ?? '/v2/sandboxes', {
    body: { templateID: 'base', ...body },
    ...(options.apiKey && { apiKey: options.apiKey }),
  })

const imageOf = (answer: Answer): string | undefined =>
  [...world.engine.sandboxes.values()].find(({ spec }) => spec.sandboxId === answer.body.sandboxID)?.spec.image

describe('template references', () => {
  it.each([
    ['base', 'base:1'],
    ['e2bdev/base', 'base:1'],
    [' BASE:default ', 'base:1'],
    ['app', 'app:default'],
    ['app:v1', 'app:v1'],
    ['acme/app', 'app:default'],
    ['ownerapp000000000000', 'app:default'],
    ['ownerapp000000000000:v1', 'app:v1'],
  ])('%j starts from %s', async (templateID, image) => {
    const answer = await create({ templateID })
    expect(answer.status).toBe(201)
    expect(imageOf(answer)).toBe(image)
  })

  it('accept a build id in place of the tag', async () => {
    const byId = await create({ templateID: `base:${world.buildId}` })
    expect(imageOf(byId)).toBe('base:1')
    const elsewhere = await create({ templateID: `base:${BUILD_ELSEWHERE}` })
    expect(elsewhere.body).toEqual({ code: 404, message: `tag '${BUILD_ELSEWHERE}' does not exist for template 'base'` })
  })

  it("resolve a team's own names before promoted ones", async () => {
    expect(imageOf(await create({ templateID: 'base' }, { apiKey: strangerKey }))).toBe('base:default')
    expect(imageOf(await create({ templateID: 'acme/shared' }, { apiKey: strangerKey }))).toBe('shared:default')
  })

  it.each([
    ['nothing', 404, "template 'nothing' not found"],
    ['nothing:v1', 404, "template 'nothing' not found"],
    ['acme/nothing', 404, "template 'acme/nothing' not found"],
    ['base:v9', 404, "tag 'v9' does not exist for template 'base'"],
    ['empty', 404, "tag 'default' does not exist for template 'empty'"],
    ['', 400, 'Invalid template reference: invalid template ID: '],
    ['a b', 400, 'Invalid template reference: invalid template ID: a b'],
    ['n!/a', 400, 'Invalid template reference: invalid namespace: n!'],
    ['a:t!', 400, 'Invalid template reference: invalid tag: t!'],
  ])('%j is %i', async (templateID, code, message) => {
    expect((await create({ templateID })).body).toEqual({ code, message })
  })

  it("hide another team's private templates, with and without a tag", async () => {
    for (const templateID of ['acme/app', 'acme/app:v9', 'ownerapp000000000000']) {
      const key = templateID.split(':')[0]
      expect((await create({ templateID }, { apiKey: strangerKey })).body).toEqual({ code: 404, message: `template '${key}' not found` })
    }
  })
})

describe('[POST /sandboxes] [POST /v2/sandboxes] the defaults of the two generations', () => {
  it.each([
    ['/sandboxes', {}, 15, false],
    ['/sandboxes', { secure: true, timeout: 40 }, 40, true],
    ['/v2/sandboxes', {}, 300, true],
    ['/v2/sandboxes', { secure: false, timeout: 40 }, 40, false],
  ])('POST %s %j', async (url, body, seconds, isSecure) => {
    const { body: sandbox } = await create(body, { url })
    expect('envdAccessToken' in sandbox).toBe(isSecure)
    const { body: detail } = await api.call('GET', `/sandboxes/${sandbox.sandboxID}`)
    expect(detail.envdAccessToken).toBe(isSecure ? sandbox.envdAccessToken : null)
    expect(Date.parse(detail.endAt) - Date.parse(detail.startedAt)).toBe(seconds * 1000)
    const init = world.daemon.inits.at(-1)
    expect(init?.['accessToken']).toBe(isSecure ? sandbox.envdAccessToken : undefined)
  })
})

describe('[POST /v2/sandboxes] the identity of the daemon', () => {
  it('is sent with the key of the instance, which differs between sandboxes', async () => {
    const keys = new Set<string>()
    for (const secure of [true, false]) {
      const { body: sandbox } = await create({ secure })
      expect(world.daemon.inits.at(-1)?.['identity']).toEqual({
        sandboxID: sandbox.sandboxID,
        templateID: world.templateId,
        buildID: world.buildId,
        tunnelSecretHash: expect.stringMatching(/^[0-9a-f]{128}$/),
      })
      const started = [...world.engine.sandboxes.values()].find(({ spec }) => spec.sandboxId === sandbox.sandboxID)
      const key = started?.spec.instanceKey.reveal() ?? ''
      expect(key).toMatch(/^[0-9a-f]{64}$/)
      expect(world.daemon.instanceKeys.at(-1)).toBe(key)
      expect(JSON.stringify(sandbox)).not.toContain(key)
      keys.add(key)
    }
    expect(keys.size).toBe(2)
  })
})

describe('arguments', () => {
  it.each<[object, number, string]>([
    [{ timeout: 0 }, 400, 'Timeout must be greater than 0'],
    [{ timeout: 86_401 }, 400, 'Timeout cannot be greater than 24 hours'],
    [{ autoPauseMemory: false }, 400, 'autoPauseMemory=false only applies when autoPause is true.'],
    [
      { autoPause: true, autoPauseMemory: false, autoResume: { enabled: true } },
      400,
      'autoPauseMemory=false (filesystem-only auto-pause) cannot be combined with autoResume: a filesystem-only snapshot cannot be auto-resumed by traffic and must be resumed explicitly.',
    ],
  ])('%j is %i', async (body, code, message) => {
    expect((await create(body)).body).toEqual({ code, message })
  })

  it('refuses secure access for an old daemon', async () => {
    const { db } = world.database
    const setVersion = (envd_version: string | null) =>
      db.updateTable('build').set({ envd_version }).where('image', '=', 'app:v1').execute()
    await setVersion('0.1.9')
    expect((await create({ templateID: 'app:v1' })).body.message).toMatch(/^Template is not compatible with secured access\. /)
    await setVersion(null)
    expect((await create({ templateID: 'app:v1' })).body.message).toMatch(/^You need to re-build template to allow using secured access\. /)
    expect((await create({ templateID: 'app:v1', secure: false })).status).toBe(201)
    await setVersion('0.6.13')
  })
})

describe('limits and failures of the start', () => {
  it('enforces the limit of sandboxes for concurrent creates', async () => {
    const small = await world.startServer({ env: { SANDYARD_MAX_SANDBOXES: '3' } })
    const apiKey = strangerKey
    for (const { spec } of world.engine.sandboxes.values()) {
      await small.call('DELETE', `/sandboxes/${spec.sandboxId}`, { apiKey })
    }
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => small.call('POST', '/v2/sandboxes', { body: { templateID: 'base' }, apiKey })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(5)
    expect(refused[0]?.body.message).toMatch(
      /^you have reached the maximum number of concurrent E2B sandboxes \(3\)\. If you need more, please visit 'https:\/\/e2b\.dev\/docs\/billing'.*SANDYARD_MAX_SANDBOXES/,
    )
  })

  it.each<[string, Error, number, string, string, string | undefined]>([
    [
      'no room',
      new AppError('resource_exhausted', 'full'),
      503,
      'sandbox_capacity_unavailable',
      'Failed to place sandbox: not enough capacity for the requested resources right now, please retry shortly',
      undefined,
    ],
    [
      'a missing image',
      new AppError('not_found', 'Image "base:1" does not exist.'),
      500,
      'sandbox_create_failed',
      'Failed to place sandbox: Image "base:1" does not exist.',
      'false',
    ],
    [
      'an unavailable engine',
      new AppError('unavailable', 'secret detail'),
      500,
      'sandbox_create_failed',
      'Failed to place sandbox: sandbox creation failed on 1 node(s), please retry; if the problem persists, contact us',
      'false',
    ],
    [
      'a start that takes too long',
      new DOMException('late', 'TimeoutError'),
      504,
      'sandbox_placement_timeout',
      'Failed to place sandbox: placement timed out, please retry',
      'false',
    ],
  ])('undoes everything after %s', async (_name, error, code, error_code, message, shouldRetry) => {
    const before = engineSandboxes()
    api.runtime.faults.failBefore('create', error)
    const answer = await create({})
    expect(answer.status).toBe(code)
    expect(answer.body).toEqual({ code, error_code, message })
    expect(answer.headers['should-retry']).toBe(shouldRetry)
    expect(engineSandboxes().difference(before)).toEqual(new Set())
    const left = await world.database.db.selectFrom('sandbox').select('sandbox_id').where('state', '=', 'starting').execute()
    expect(left).toEqual([])
  })

  it('waits for the daemon, and undoes the create when the daemon refuses', async () => {
    world.daemon.answers.push(503, 502)
    expect((await create({})).status).toBe(201)
    const before = engineSandboxes()
    world.daemon.answers.push(401)
    expect(await create({})).toMatchObject({ status: 500, headers: { 'should-retry': 'false' } })
    expect(engineSandboxes().difference(before)).toEqual(new Set())
  })
})
