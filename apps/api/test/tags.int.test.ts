import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { block, insertBuild, insertTemplate, refusal, seedParty, useTwoTeams, type Party } from './support/templates.ts'

const { world, api, ours, theirs } = await useTwoTeams()
let templateId: string
let first: string
let second: string

beforeAll(async () => {
  templateId = await insertTemplate(world, ours, { alias: 'app', isPublic: true })
  first = await insertBuild(world, templateId, { tags: ['default', 'v1'] })
  second = await insertBuild(world, templateId, { tags: ['default', 'v2'] })
  await insertBuild(world, templateId, { tags: ['default', 'v1', 'unready'], status: 'building' })
  await insertBuild(world, templateId, { tags: ['failed'], status: 'failed' })
})

const assign = (target: unknown, tags: unknown, party: Party = ours) =>
  api.call('POST', '/templates/tags', { body: { target, tags }, apiKey: party.apiKey })

const remove = (name: unknown, tags: unknown, party: Party = ours) =>
  api.call('DELETE', '/templates/tags', { body: { name, tags }, apiKey: party.apiKey })

const list = (name: string, party: Party = ours) => api.call('GET', `/templates/${encodeURIComponent(name)}/tags`, { apiKey: party.apiKey })

const tagsOf = async (name: string): Promise<Record<string, string>> => {
  const { body } = await list(name)
  return Object.fromEntries(body.map(({ tag, buildID }: { tag: string; buildID: string }) => [tag, buildID]))
}

type Case = [name: string, first: unknown, tags: unknown, party: () => Party, code: number, message: string | RegExp]

describe('[POST /templates/tags]', () => {
  it.each<[string, string, () => string]>([
    ['a name', 'app', () => second],
    ['a name and a tag', 'APP:v1', () => first],
    ['the default tag', 'ours/app:default', () => second],
    ['a template id', 'ID:v1', () => first],
    ['a build id', 'app:BUILD', () => first],
    ['a build id without hyphens', 'app:SHORT', () => first],
  ])('assigns tags to the build of %s', async (_name, target, build) => {
    const given = target.replace('ID:', `${templateId}:`).replace('BUILD', first).replace('SHORT', first.replaceAll('-', ''))
    const { status, body } = await assign(given, [' Stable ', 'stable', 'rc.1'])
    expect({ status, ...body, tags: body.tags.toSorted() }).toEqual({ status: 201, tags: ['rc.1', 'stable'], buildID: build() })
    expect(await tagsOf('app')).toMatchObject({ stable: build(), 'rc.1': build() })
  })

  it('moves a tag, also the default tag', async () => {
    await assign('app:v1', ['default'])
    expect(await tagsOf('app')).toMatchObject({ default: first })
    const started = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'app' }, apiKey: ours.apiKey })
    const row = world.database.db.selectFrom('sandbox').select('build_id').where('sandbox_id', '=', started.body.sandboxID)
    expect(await row.executeTakeFirstOrThrow()).toEqual({ build_id: first })
    await assign('app:v2', ['default'])
    expect(await tagsOf('app')).toMatchObject({ default: second })
  })

  it('applies the later of two concurrent requests', async () => {
    const answers = await Promise.all(['app:v1', 'app:v2'].map((target) => assign(target, ['contended', 'other'])))
    expect(answers.map(({ status }) => status)).toEqual([201, 201])
    const { contended, other } = await tagsOf('app')
    expect([first, second]).toContain(contended)
    expect(other).toBeDefined()
  })

  it.each<Case>([
    ['no tags', 'a b', [], () => ours, 400, 'At least one tag is required'],
    ['the syntax of a target', 'a b', ['x'], () => ours, 400, 'Invalid target template format: invalid template ID: a b'],
    ['a target without a name', ':v1', ['x'], () => ours, 400, 'Invalid target template format: invalid template ID: '],
    ['a target without its tag', 'app:', ['x'], () => ours, 400, 'Invalid target template format: invalid tag: '],
    ['a foreign namespace', 'ours/app', ['x'], () => theirs, 400, "namespace 'ours' must match your team 'theirs'"],
    ['an unknown name', 'nothing:v1', ['x'], () => ours, 404, "template 'nothing' not found"],
    ['a name of another team', 'app', ['x'], () => theirs, 404, "template 'app' not found"],
    ['an unknown tag', 'app:nothing', ['a b'], () => ours, 404, "Template 'app:nothing' with tag 'nothing' not found"],
    ['a tag without a ready build', 'app:unready', ['x'], () => ours, 404, "Template 'app:unready' with tag 'unready' not found"],
    ['a template without one', 'hollow', ['x'], () => ours, 404, "Template 'hollow' with tag 'default' not found"],
    ['another team', 'base', ['a b'], () => theirs, 403, "You don't have access to sandbox template 'base'"],
    ['a tag', 'app', ['x', 'a b'], () => ours, 400, 'Invalid tag: invalid tag: a b'],
    ['an empty tag', 'app', [''], () => ours, 400, 'Invalid tag: invalid tag: '],
    ['no target', undefined, ['x'], () => ours, 400, /^validation error/],
    ['no list', 'app', 'x', () => ours, 400, /^validation error/],
    ['tags of another type', 'app', [1], () => ours, 400, /^validation error/],
    ['too many tags', 'app', Array.from({ length: 101 }, (_, index) => `t${index}`), () => ours, 400, /^validation error/],
  ])('refuses %s', async (_name, target, tags, party, code, message) => {
    await world.database.db.deleteFrom('template_alias').where('alias', '=', 'hollow').execute()
    await insertTemplate(world, ours, { alias: 'hollow' })
    expect(await assign(target, tags, party())).toMatchObject(refusal(code, message))
  })

  it('refuses a build id as a tag, and the build of another template', async () => {
    const uuid = randomUUID()
    expect(await assign('app', [uuid])).toMatchObject(refusal(400, `Invalid tag: invalid tag '${uuid}': tag cannot be a UUID`))
    expect(await assign(`app:${world.buildId}`, ['x'])).toMatchObject(
      refusal(404, `Template 'app:${world.buildId}' with tag '${world.buildId}' not found`),
    )
  })

  it('assigns nothing if one tag is invalid', async () => {
    await assign('app', ['alone', 'wrong tag'])
    expect(await tagsOf('app')).not.toHaveProperty('alone')
  })
})

describe('[DELETE /templates/tags]', () => {
  it('removes tags with their history, and ignores unknown tags', async () => {
    await assign('app:v1', ['gone', 'kept'])
    await assign('app:v2', ['gone'])
    expect(await remove('ours/app:default', [' GONE', 'never'])).toMatchObject({ status: 204, text: '' })
    expect((await remove(templateId, ['gone'])).status).toBe(204)
    const tags = await tagsOf('app')
    expect(tags).not.toHaveProperty('gone')
    expect(tags).toMatchObject({ kept: first, default: second })
    expect((await api.call('POST', '/v2/sandboxes', { body: { templateID: 'app:gone' }, apiKey: ours.apiKey })).status).toBe(404)
  })

  it.each<Case>([
    ['a tag', 'a b', ['a b'], () => ours, 400, 'Invalid tag: invalid tag: a b'],
    ['no tags', 'a b', [], () => ours, 400, 'At least one tag is required'],
    ['the default tag', 'nothing', ['x', ' Default'], () => ours, 400, "Cannot delete the 'default' tag"],
    ['the syntax of a name', 'a b', ['x'], () => ours, 400, 'Invalid template name format: invalid template ID: a b'],
    ['a name with a tag', 'app:v1', ['x'], () => ours, 400, "Template name should not contain a tag, use the 'tags' field instead"],
    ['a foreign namespace', 'ours/app', ['x'], () => theirs, 400, "namespace 'ours' must match your team 'theirs'"],
    ['an unknown name', 'nothing', ['x'], () => ours, 404, "template 'nothing' not found"],
    ['another team', 'base', ['x'], () => theirs, 403, "You don't have access to sandbox template 'base'"],
    ['no name', undefined, ['x'], () => ours, 400, /^validation error/],
    ['no list', 'app', undefined, () => ours, 400, /^validation error/],
  ])('refuses %s', async (_name, name, tags, party, code, message) => {
    expect(await remove(name, tags, party())).toMatchObject(refusal(code, message))
  })
})

describe('[GET /templates/{templateID}/tags]', () => {
  it('returns one row per tag with its current build, in order', async () => {
    const id = await insertTemplate(world, ours, { alias: 'tagged' })
    const older = await insertBuild(world, id, { tags: ['default', 'b'] })
    const newer = await insertBuild(world, id, { tags: ['default', 'a'] })
    await insertBuild(world, id, { tags: ['default', 'c'], status: 'waiting' })
    for (const name of [id, 'tagged', 'ours/tagged', 'tagged:ignored']) {
      const { status, body } = await list(name)
      expect(status).toBe(200)
      expect(body).toEqual(
        [
          ['a', newer],
          ['b', older],
          ['default', newer],
        ].map(([tag, buildID]) => ({ tag, buildID, createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) })),
      )
    }
    expect((await list('hollow')).body).toEqual([])
    const snapshot = await insertTemplate(world, ours, { source: 'snapshot_template' })
    await insertBuild(world, snapshot)
    expect((await list(snapshot)).body).toHaveLength(1)
  })

  it.each<[string, string, () => Party, number, string]>([
    ['a syntax', 'a b', () => ours, 400, 'Invalid template reference: invalid template ID: a b'],
    ['an unknown name', 'nothing:v1', () => ours, 404, "template 'nothing' not found"],
    ['a name of another team', 'Ours/App:v1', () => theirs, 403, "You don't have access to sandbox template 'Ours/App:v1'"],
    ['a promoted one of another team', 'base', () => theirs, 403, "You don't have access to sandbox template 'base'"],
  ])('refuses %s', async (_name, reference, party, code, message) => {
    expect(await list(reference, party())).toMatchObject(refusal(code, message))
  })
})

describe('access to operations on tags', () => {
  it('is allowed for teams; blocked teams may only read and delete', async () => {
    const party = await seedParty(world, 'Blocked')
    await insertTemplate(world, party, { alias: 'app' })
    await block(world, party.teamId, 'unpaid')
    expect(await assign('app', ['x'], party)).toMatchObject(refusal(403, 'team is blocked: unpaid'))
    expect((await remove('app', ['x'], party)).status).toBe(204)
    expect((await list('app', party)).status).toBe(200)
    const asUser = { apiKey: null, headers: { authorization: ours.bearer } }
    for (const answer of [
      await api.call('POST', '/templates/tags', { body: { target: 'app', tags: ['x'] }, ...asUser }),
      await api.call('DELETE', '/templates/tags', { body: { name: 'app', tags: ['x'] }, ...asUser }),
      await api.call('GET', '/templates/app/tags', asUser),
      await api.call('GET', '/templates/app/tags', { apiKey: null }),
    ]) {
      expect(answer).toMatchObject({ status: 401, body: { code: 401 } })
    }
  })
})
