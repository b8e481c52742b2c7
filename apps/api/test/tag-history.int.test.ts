import { beforeAll, describe, expect, it } from 'vitest'
import { assign, insertBuild, insertTemplate, refusal, useTwoTeams, type Party } from './support/templates.ts'

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

const { world, api, ours, theirs } = await useTwoTeams()
let templateId: string
/** Oldest first. */
const builds: string[] = []

beforeAll(async () => {
  templateId = await insertTemplate(world, ours, { alias: 'app', isPublic: true })
  for (let index = 0; index < 5; index++) builds.push(await insertBuild(world, templateId, { tags: ['default', `v${index}`] }))
  await insertBuild(world, templateId, { tags: ['default', 'unready'], status: 'building' })
  await assign(world, { templateId, buildId: String(builds[0]), tags: ['v1'] })
})

const get = (path: string, party: Party = ours, name = 'app') =>
  api.call('GET', `/templates/${encodeURIComponent(name)}/tags/${path}`, { apiKey: party.apiKey })

const PATHS = ['count', 'exists?tag=v1', 'groups', 'v1/assignments']

describe('[GET /templates/{templateID}/tags/count]', () => {
  it('counts the tags that point to a ready build', async () => {
    expect(await get('count')).toMatchObject({ status: 200, body: { total: 6 } })
    expect((await get('count', ours, `ours/app:ignored`)).body).toEqual({ total: 6 })
  })
})

describe('[GET /templates/{templateID}/tags/exists]', () => {
  it.each([
    ['V1%20', true, 'v1'],
    ['default', true, 'default'],
    ['unready', false, 'unready'],
    ['never', false, 'never'],
  ])('answers for the tag %s: %s', async (tag, exists, normalizedTag) => {
    expect(await get(`exists?tag=${tag}`)).toMatchObject({ status: 200, body: { exists, normalizedTag } })
  })

  it.each([
    ['exists', /^validation error/],
    ['exists?tag=', 'Invalid tag: invalid tag: '],
    ['exists?tag=a%20b', 'Invalid tag: invalid tag: a b'],
  ])('refuses %s', async (path, message) => {
    expect(await get(path)).toMatchObject(refusal(400, message))
  })
})

describe('[GET /templates/{templateID}/tags/{tag}/assignments]', () => {
  it('returns the assignments of a tag, newest first', async () => {
    const { status, body } = await get('V1/assignments')
    expect({ status, ...body }).toEqual({
      status: 200,
      data: [builds[0], builds[1]].map((buildId) => ({
        assignmentId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        buildId,
        assignedAt: TIME,
        buildCreatedAt: TIME,
        buildFinishedAt: TIME,
      })),
      nextCursor: null,
    })
    expect((await get('never/assignments')).body).toEqual({ data: [], nextCursor: null })
  })

  it('pages through the assignments', async () => {
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await get(`default/assignments?limit=2${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`)
      expect(body.data.length).toBeLessThanOrEqual(2)
      seen.push(...body.data.map(({ buildId }: { buildId: string }) => buildId))
      cursor = body.nextCursor
    }
    expect(seen).toEqual(builds.toReversed())
    expect((await get('default/assignments?limit=5')).body.nextCursor).toBeNull()
    expect((await get('default/assignments?limit=0')).body.data).toHaveLength(1)
    expect((await get('default/assignments?limit=100000')).body.data).toHaveLength(5)
  })

  it.each([
    ['a%20b/assignments', 'Invalid tag: invalid tag: a b'],
    ['v1/assignments?limit=x', /^validation error/],
    ['v1/assignments?cursor=x', 'Invalid next token'],
    [`v1/assignments?cursor=${Buffer.from('2026-01-01T00:00:00Z__abc').toString('base64')}`, 'Invalid next token'],
  ])('refuses %s', async (path, message) => {
    expect(await get(path)).toMatchObject(refusal(400, message))
  })
})

describe('[GET /templates/{templateID}/tags/groups]', () => {
  const tagsOf = (body: { tags: { tag: string }[] }) => body.tags.map(({ tag }) => tag)

  it('returns the tags with their last assignments', async () => {
    const { status, body } = await get('groups?assignmentLimit=1')
    expect(status).toBe(200)
    expect(body.tags[0]).toEqual({
      tag: 'v1',
      assignments: [
        { assignmentId: expect.any(String), buildId: builds[0], assignedAt: TIME, buildCreatedAt: TIME, buildFinishedAt: TIME },
      ],
      hasMore: true,
    })
    expect(body.tags.find(({ tag }: { tag: string }) => tag === 'v2')).toMatchObject({
      hasMore: false,
      assignments: [{ buildId: builds[2] }],
    })
    expect(body.nextCursor).toBeNull()
    const all = await get('groups')
    expect(all.body.tags.find(({ tag }: { tag: string }) => tag === 'default')).toMatchObject({
      hasMore: false,
      assignments: builds.toReversed().map((buildId) => ({ buildId })),
    })
  })

  it.each([
    ['latest_desc', ['v1', 'v4', 'default', 'v3', 'v2', 'v0']],
    ['latest_asc', ['v0', 'v2', 'v3', 'default', 'v4', 'v1']],
    ['name_asc', ['default', 'v0', 'v1', 'v2', 'v3', 'v4']],
    ['name_desc', ['v4', 'v3', 'v2', 'v1', 'v0', 'default']],
  ])('sorts by %s, in one page or in several', async (sort, expected) => {
    expect(tagsOf((await get(`groups?sort=${sort}`)).body)).toEqual(expected)
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await get(`groups?sort=${sort}&tagsLimit=2${cursor === '' ? '' : `&tagsCursor=${cursor}`}`)
      expect(body.tags.length).toBeLessThanOrEqual(2)
      seen.push(...tagsOf(body))
      cursor = body.nextCursor
    }
    expect(seen).toEqual(expected)
  })

  it('searches, and clamps limits', async () => {
    expect(tagsOf((await get('groups?search=V1')).body)).toEqual(['v1'])
    expect(tagsOf((await get('groups?search=_')).body)).toEqual([])
    expect((await get('groups?tagsLimit=0')).body.tags).toHaveLength(1)
    expect((await get('groups?assignmentLimit=-5')).body.tags[0].assignments).toHaveLength(1)
    expect((await get('groups?tagsLimit=100000&assignmentLimit=100000')).body.tags).toHaveLength(6)
  })

  it('refuses a cursor of another sort and an invalid one', async () => {
    const { body } = await get('groups?sort=name_asc&tagsLimit=1')
    for (const query of [`tagsCursor=${body.nextCursor}`, `sort=name_desc&tagsCursor=${body.nextCursor}`, 'tagsCursor=x']) {
      expect(await get(`groups?${query}`)).toMatchObject(refusal(400, 'Invalid next token'))
    }
    expect(await get('groups?sort=random')).toMatchObject(refusal(400, /^validation error/))
    expect(await get('groups?search=a%2Fb')).toMatchObject(refusal(400, 'Invalid search: a/b'))
    expect(await get('groups?tagsLimit=x')).toMatchObject(refusal(400, /^validation error/))
  })
})

describe('access to tags', () => {
  it.each(PATHS)('%s finds only own templates', async (path) => {
    expect(await get(path, theirs, templateId)).toMatchObject(refusal(404, `template '${templateId}' not found`))
    expect(await get(path, theirs, 'base')).toMatchObject(refusal(404, "template 'base' not found"))
    expect(await get(path, ours, 'nothing:v1')).toMatchObject(refusal(404, "template 'nothing' not found"))
    expect(await get(path, ours, 'a b')).toMatchObject(refusal(400, 'Invalid template reference: invalid template ID: a b'))
    const asUser = await api.call('GET', `/templates/app/tags/${path}`, { apiKey: null, headers: { authorization: ours.bearer } })
    expect(asUser).toMatchObject({ status: 401, body: { code: 401 } })
  })
})
