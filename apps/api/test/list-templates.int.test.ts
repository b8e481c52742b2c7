import { beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN } from './support/control-plane.ts'
import { assign, block, insertBuild, insertTemplate, nextPage, seedParty, useTwoTeams, type Party } from './support/templates.ts'

const NIL_UUID = '00000000-0000-0000-0000-000000000000'

const { world, api, ours, theirs } = await useTwoTeams()

const list = (path: string, party: Party) => api.call('GET', path, { apiKey: party.apiKey })

describe('[GET /templates] [GET /v2/templates]', () => {
  let party: Party
  /** Oldest first; the last two were created at the same instant. */
  let ids: string[] = []

  beforeAll(async () => {
    party = await seedParty(world, 'Lister')
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))
    ids = []
    for (const minute of [0, 1, 2, 2]) ids.push(await insertTemplate(world, party, { createdAt: at(minute) }))
    ids = [...ids.slice(0, 2), ...ids.slice(2).sort()]
    await insertTemplate(world, party, { createdAt: at(3), source: 'snapshot_template' })
    const gone = await insertTemplate(world, party, { createdAt: at(4) })
    await world.database.db.updateTable('template').set({ deleted_at: new Date() }).where('template_id', '=', gone).execute()
  })

  const idsOf = (body: { templateID: string }[]) => body.map(({ templateID }) => templateID)

  it('lists all templates of the team, oldest first, without snapshots and deleted ones', async () => {
    const { status, body, headers } = await list('/templates', party)
    expect(status).toBe(200)
    expect(idsOf(body)).toEqual(ids)
    expect(headers).not.toHaveProperty('x-next-token')
    expect(idsOf((await list('/templates', theirs)).body)).toEqual([])
  })

  it('pages through them, newest first', async () => {
    const seen: string[] = []
    for (let query: string | undefined = ''; query !== undefined;) {
      const page = await list(`/v2/templates?limit=3&${query}`, party)
      seen.push(...idsOf(page.body))
      query = nextPage(page)
    }
    expect(seen).toEqual(ids.toReversed())
    expect((await list('/v2/templates?limit=4', party)).headers).not.toHaveProperty('x-next-token')
  })

  it.each([
    ['limit=0', 400, /^validation error/],
    ['limit=101', 400, /^validation error/],
    ['limit=x', 400, /^validation error: Invalid format for parameter limit: /],
    ['nextToken=x', 400, /^Invalid next token$/],
    ['nextToken=MjAyNi0wMS0wMVQwMDowMDowMC4wMDBaX19h', 200, undefined],
    ['nextToken=MjAyNi0wMS0wMVQwMDowMDowMC4wMDBaX19hX19hc2M=', 400, /^Invalid next token$/],
    ['teamID=nothing', 400, /^Team ID param mismatch with the API key$/],
  ])('answers %s with %i', async (query, code, message) => {
    const { status, body } = await list(`/v2/templates?${query}`, party)
    expect(status).toBe(code)
    if (message !== undefined) expect(body).toEqual({ code, message: expect.stringMatching(message) })
  })

  it.each(['/templates', '/v2/templates'])('accepts users and teams on %s', async (path) => {
    const bearer = { apiKey: null, headers: { authorization: party.bearer } }
    expect(idsOf((await api.call('GET', path, bearer)).body).toSorted()).toEqual(ids.toSorted())
    expect(idsOf((await api.call('GET', `${path}?teamID=${party.teamId}`, bearer)).body)).toHaveLength(4)
    expect(await list(`${path}?teamID=${party.teamId}`, party)).toMatchObject({ status: 200 })
    expect(await list(`${path}?teamID=${theirs.teamId}`, party)).toMatchObject({
      status: 400,
      body: { code: 400, message: 'Team ID param mismatch with the API key' },
    })
    expect(await api.call('GET', `${path}?teamID=${theirs.teamId}`, bearer)).toMatchObject({
      status: 403,
      body: { code: 403, message: 'You are not allowed to access this team' },
    })
    expect(await api.call('GET', path, { apiKey: null })).toMatchObject({
      status: 401,
      body: { code: 401, message: 'authorization header is missing' },
    })
  })

  it.each(['/templates', '/v2/templates', '/default-templates'])('lets a blocked team read %s', async (path) => {
    const blocked = await seedParty(world, `Blocked${path.replaceAll(/\W/g, '')}`)
    await block(world, blocked.teamId, 'unpaid')
    expect((await list(path, blocked)).status).toBe(200)
    if (path === '/default-templates') return
    expect((await api.call('GET', path, { apiKey: null, headers: { authorization: blocked.bearer } })).status).toBe(200)
  })
})

describe('the fields of a template', () => {
  it('are the defaults for a template without builds', async () => {
    const createdAt = new Date('2026-02-03T04:05:06.789Z')
    const templateID = await insertTemplate(world, ours, { alias: 'empty', createdAt })
    const { body } = await list('/templates', ours)
    expect(body.find((item: { templateID: string }) => item.templateID === templateID)).toEqual({
      templateID,
      buildID: NIL_UUID,
      cpuCount: 2,
      memoryMB: 1024,
      diskSizeMB: 0,
      public: false,
      aliases: ['empty'],
      names: ['ours/empty'],
      createdAt: '2026-02-03T04:05:06.789Z',
      updatedAt: '2026-02-03T04:05:06.789Z',
      createdBy: { id: ours.userId, email: ours.email },
      lastSpawnedAt: null,
      spawnCount: 0,
      buildCount: 0,
      envdVersion: '0.6.13',
      buildStatus: 'waiting',
      isDefault: false,
    })
  })

  const find = async (templateId: string) => {
    const { body } = await list('/v2/templates', ours)
    return body.find((item: { templateID: string }) => item.templateID === templateId)
  }

  it('come from the ready build of the default tag, with the status of the newest build', async () => {
    const templateId = await insertTemplate(world, ours, { createdBy: null })
    expect(await find(templateId)).toMatchObject({ createdBy: null, names: [], aliases: [] })
    const waiting = await insertBuild(world, templateId, { status: 'waiting', cpuCount: 4 })
    expect(await find(templateId)).toMatchObject({
      buildID: NIL_UUID,
      cpuCount: 4,
      memoryMB: 2048,
      diskSizeMB: 1024,
      buildStatus: 'waiting',
    })
    const ready = await insertBuild(world, templateId, { status: 'uploaded', cpuCount: 6 })
    expect(await find(templateId)).toMatchObject({ buildID: ready, cpuCount: 6, memoryMB: 3072, buildStatus: 'ready' })
    await insertBuild(world, templateId, { status: 'failed', cpuCount: 8 })
    expect(await find(templateId)).toMatchObject({ buildID: ready, cpuCount: 6, buildStatus: 'error' })
    await insertBuild(world, templateId, { status: 'uploaded', tags: ['v1'], cpuCount: 1 })
    expect(await find(templateId)).toMatchObject({ buildID: ready, cpuCount: 6, buildStatus: 'error' })
    await world.database.db.updateTable('build').set({ status: 'building' }).where('build_id', '=', waiting).execute()
    await assign(world, { templateId, buildId: waiting, tags: ['default'] })
    expect(await find(templateId)).toMatchObject({ buildID: ready, buildStatus: 'building' })
  })

  it('have the sizes of the newest build if the default tag has no build', async () => {
    const templateId = await insertTemplate(world, ours)
    await insertBuild(world, templateId, { tags: ['v1'], cpuCount: 6 })
    expect(await find(templateId)).toMatchObject({ buildID: NIL_UUID, cpuCount: 6, buildStatus: 'waiting' })
  })

  it('count starts', async () => {
    const templateId = await insertTemplate(world, ours, { alias: 'spawned' })
    await insertBuild(world, templateId)
    const { status } = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'spawned' }, apiKey: ours.apiKey })
    expect(status).toBe(201)
    const { spawnCount, lastSpawnedAt } = await find(templateId)
    expect(spawnCount).toBe(1)
    expect(Date.parse(lastSpawnedAt)).toBeGreaterThan(Date.now() - 60_000)
  })
})

describe('[GET /default-templates]', () => {
  it('lists the default templates, without usage data for other teams', async () => {
    const owner = await api.call('GET', '/default-templates')
    expect(owner.body).toMatchObject([
      {
        templateID: world.templateId,
        buildID: world.buildId,
        names: ['base'],
        isDefault: true,
        buildCount: 1,
        createdBy: { email: 'dev@acme.test' },
      },
    ])
    const other = await list('/default-templates', theirs)
    expect(other.body).toEqual([{ ...owner.body[0], buildCount: 0, spawnCount: 0, lastSpawnedAt: null, createdBy: null }])
  })

  it('hides a private default template from other teams', async () => {
    const setPublic = (value: boolean) => api.call('PATCH', '/v2/templates/base', { body: { public: value } })
    await setPublic(false)
    expect((await list('/default-templates', theirs)).body).toEqual([])
    expect((await api.call('GET', '/default-templates')).body).toHaveLength(1)
    const admin = { 'x-admin-token': ADMIN_TOKEN, 'x-team-id': theirs.teamId }
    expect((await api.call('GET', '/default-templates', { apiKey: null, headers: admin })).body).toMatchObject([{ buildCount: 1 }])
    await setPublic(true)
    expect((await list('/default-templates', theirs)).body).toHaveLength(1)
  })
})
