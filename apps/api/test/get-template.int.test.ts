import { beforeAll, describe, expect, it } from 'vitest'
import { assign, block, insertBuild, insertTemplate, nextPage, refusal, useTwoTeams, type Party } from './support/templates.ts'

const { world, api, ours, theirs } = await useTwoTeams()
let templateId: string

beforeAll(async () => {
  templateId = await insertTemplate(world, ours, { alias: 'app', isPublic: true })
})

describe('[GET /templates/{templateID}]', () => {
  const get = (path: string, party: Party = ours) => api.call('GET', `/templates/${path}`, { apiKey: party.apiKey })

  it('returns all fields of a template and its builds', async () => {
    const id = await insertTemplate(world, ours, { alias: 'whole', createdAt: new Date('2026-01-01T00:00:00Z') })
    const ready = await insertBuild(world, id, { createdAt: new Date('2026-01-01T00:00:01Z') })
    const waiting = await insertBuild(world, id, { status: 'waiting', createdAt: new Date('2026-01-01T00:00:02Z'), cpuCount: 4 })
    const { status, body } = await get(id)
    expect(status).toBe(200)
    expect(body).toEqual({
      templateID: id,
      buildID: ready,
      public: false,
      aliases: ['whole'],
      names: ['ours/whole'],
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-01T00:00:00.000Z',
      lastSpawnedAt: null,
      spawnCount: 0,
      cpuCount: 2,
      memoryMB: 1024,
      diskSizeMB: 1024,
      createdBy: { id: ours.userId, email: ours.email },
      buildCount: 0,
      envdVersion: '0.6.13',
      buildStatus: 'waiting',
      isDefault: false,
      builds: [
        {
          buildID: waiting,
          status: 'waiting',
          createdAt: '2026-01-01T00:00:02.000Z',
          updatedAt: '2026-01-01T00:00:02.000Z',
          cpuCount: 4,
          memoryMB: 2048,
          diskSizeMB: 1024,
        },
        {
          buildID: ready,
          status: 'ready',
          createdAt: '2026-01-01T00:00:01.000Z',
          updatedAt: '2026-01-01T00:00:01.000Z',
          finishedAt: '2026-01-01T00:00:01.000Z',
          cpuCount: 2,
          memoryMB: 1024,
          diskSizeMB: 1024,
          envdVersion: '0.6.13',
        },
      ],
    })
  })

  it('maps every state to its wire name', async () => {
    const id = await insertTemplate(world, ours)
    const raw = ['pending', 'waiting', 'in_progress', 'building', 'snapshotting', 'uploaded', 'success', 'ready', 'failed'] as const
    for (const [index, status] of raw.entries())
      await insertBuild(world, id, { status, createdAt: new Date(Date.UTC(2026, 0, 1, 0, index)) })
    const { body } = await get(id)
    expect(body.builds.map(({ status }: { status: string }) => status).toReversed()).toEqual([
      'waiting',
      'waiting',
      'building',
      'building',
      'building',
      'ready',
      'ready',
      'ready',
      'error',
    ])
  })

  it('pages through many builds and lists a build with several tags once', async () => {
    const id = await insertTemplate(world, ours)
    const expected: string[] = []
    for (let index = 0; index < 7; index++) {
      // Two builds at each instant: the ids decide the order.
      const createdAt = new Date(Date.UTC(2026, 0, 1, 0, Math.floor(index / 2)))
      const buildId = await insertBuild(world, id, { createdAt, tags: ['default', `v${index}`] })
      await assign(world, { templateId: id, buildId, tags: ['default'] })
      expected.push(buildId)
    }
    const seen: string[] = []
    for (let query: string | undefined = ''; query !== undefined;) {
      const page = await get(`${id}?limit=2&${query}`)
      expect(page.body.builds.length).toBeLessThanOrEqual(2)
      seen.push(...page.body.builds.map(({ buildID }: { buildID: string }) => buildID))
      query = nextPage(page)
    }
    expect(seen).toHaveLength(7)
    expect(seen.toSorted()).toEqual(expected.toSorted())
    expect((await get(`${id}?limit=7`)).headers).not.toHaveProperty('x-next-token')
  })

  it('returns 100 builds per page by default', async () => {
    const id = await insertTemplate(world, ours)
    const rows = Array.from({ length: 101 }, () => ({
      template_id: id,
      status: 'failed' as const,
      cpu_count: 2,
      memory_mib: 512,
      disk_mib: 0,
      default_user: 'user',
      default_workdir: '/',
    }))
    await world.database.db.insertInto('build').values(rows).execute()
    const first = await get(id)
    expect(first.body.builds).toHaveLength(100)
    const rest = await get(`${id}?${nextPage(first)}`)
    expect(rest.body.builds).toHaveLength(1)
  })

  it.each<[string, () => [string, Party?], number, string | RegExp]>([
    ['an unknown id', () => ['nothing'], 404, 'Template nothing not found'],
    ['a name', () => ['app'], 404, 'Template app not found'],
    ['a name with its namespace', () => ['ours%2Fapp'], 404, 'Template ours/app not found'],
    ['a tag', () => [`${templateId}%3Adefault`], 404, /^Template \w+:default not found$/],
    ['a public one of another team', () => [templateId, theirs], 403, /^You don't have access to this sandbox template \(\w{20}\)$/],
    ['the base template of another team', () => [world.templateId], 403, /^You don't have access to this sandbox template/],
    ['an invalid token', () => [`${templateId}?nextToken=x`], 400, 'Invalid next token'],
    [
      'a token of another list',
      () => [`${templateId}?nextToken=${Buffer.from('2026-01-01T00:00:00Z__abc').toString('base64')}`],
      400,
      'Invalid next token',
    ],
    ['a limit of 0', () => [`${templateId}?limit=0`], 400, /^validation error/],
    ['a limit of 101', () => [`${templateId}?limit=101`], 400, /^validation error/],
    ['a limit that is not a number', () => [`${templateId}?limit=ten`], 400, /^validation error/],
  ])('refuses %s', async (_name, args, code, message) => {
    expect(await get(...args())).toMatchObject(refusal(code, message))
  })

  it('returns 404 for internal snapshots and deleted templates', async () => {
    const internal = await insertTemplate(world, ours, { source: 'snapshot' })
    expect((await get(internal)).status).toBe(404)
    const snapshot = await insertTemplate(world, ours, { source: 'snapshot_template' })
    expect((await get(snapshot)).status).toBe(200)
    const gone = await insertTemplate(world, ours)
    await api.call('DELETE', `/templates/${gone}`, { apiKey: ours.apiKey })
    expect(await get(gone)).toMatchObject({ status: 404, body: { message: `Template ${gone} not found` } })
  })

  it('accepts teams, also blocked ones', async () => {
    const asUser = await api.call('GET', `/templates/${templateId}`, { apiKey: null, headers: { authorization: ours.bearer } })
    expect(asUser).toMatchObject({ status: 401, body: { code: 401 } })
    await block(world, ours.teamId, 'unpaid')
    expect((await get(templateId)).status).toBe(200)
    expect((await api.call('GET', '/templates/aliases/app', { apiKey: ours.apiKey })).status).toBe(200)
    await block(world, ours.teamId, null)
  })
})

describe('[GET /templates/aliases/{alias}]', () => {
  const check = (alias: string, party: Party = ours) =>
    api.call('GET', `/templates/aliases/${encodeURIComponent(alias)}`, { apiKey: party.apiKey })

  it('resolves own names in every form', async () => {
    await insertBuild(world, templateId, { tags: ['default', 'v1'] })
    for (const alias of ['app', 'APP', 'ours/app', 'ours/app:v1', 'app:default', templateId]) {
      expect(await check(alias)).toMatchObject({ status: 200, body: { templateID: templateId, public: true } })
    }
  })

  it('resolves an own name before a promoted one', async () => {
    expect((await check('base')).status).toBe(403)
    const shadow = await insertTemplate(world, ours, { alias: 'base' })
    expect((await check('base')).body).toEqual({ templateID: shadow, public: false })
    expect((await check('base', theirs)).status).toBe(403)
  })

  it.each<[string, string, () => Party, number, string]>([
    ['a syntax', 'a b', () => ours, 400, 'Invalid alias format: invalid template ID: a b'],
    ['an empty tag', 'app:', () => ours, 400, 'Invalid alias format: invalid tag: '],
    ['a foreign namespace', 'ours/app', () => theirs, 400, "namespace 'ours' must match your team 'theirs'"],
    ['an unknown name', 'nothing:v1', () => ours, 404, "template 'nothing' not found"],
    ['a name of another namespace', 'app', () => theirs, 404, "template 'app' not found"],
    ['a promoted one of another team', 'base', () => theirs, 403, "You don't have access to this template alias"],
    ['a tag of another team', 'base:no-such-tag', () => theirs, 403, "You don't have access to this template alias"],
    ['an unknown tag', 'app:nothing', () => ours, 404, "tag 'nothing' does not exist for template 'app'"],
  ])('refuses %s', async (_name, alias, party, code, message) => {
    const { status, body } = await check(alias, party())
    expect({ status, body }).toEqual({ status: code, body: { code, message } })
  })

  it('requires a ready build for an explicit default tag', async () => {
    await insertTemplate(world, ours, { alias: 'unready' })
    expect((await check('unready')).status).toBe(200)
    expect(await check('unready:default')).toMatchObject({
      status: 404,
      body: { message: "tag 'default' does not exist for template 'unready'" },
    })
  })
})
