import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addCaller, createBuildsWorld, type BuildsWorld, type Caller } from './support/build-callers.ts'

let builds: BuildsWorld
let acme: Caller
let stranger: Caller
beforeAll(async () => {
  builds = await createBuildsWorld({ SANDYARD_TEMPLATE_DISK: '4GiB' })
  ;({ acme, stranger } = builds)
})
afterAll(() => builds[Symbol.asyncDispose]())

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const TEMPLATE_ID = /^[a-z0-9]{20}$/
const TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/
const SUPERSEDED = 'The build was canceled because it was superseded by a newer one.'
const MORE = '(if you need to increase this limit, please contact support)'

const v3 = (body: object, caller = acme) => caller.withKey('POST', '/v3/templates', body)
const statusOf = async ({ templateID, buildID }: { templateID: string; buildID: string }, caller = acme) =>
  (await caller.withKey('GET', `/templates/${templateID}/builds/${buildID}/status`)).body
const tagsOf = async (build_id: string) => {
  const rows = await builds.world.database.db.selectFrom('tag_assignment').select('tag').where('build_id', '=', build_id).execute()
  return rows.map(({ tag }) => tag).toSorted()
}

/** The errors of the generations that register by name (control-plane.md 10.3), in order. */
const NAMED_ERRORS: [object, number, string | RegExp][] = [
  [{ name: 1 }, 400, /^validation error/],
  [{ name: 'x'.repeat(129) }, 400, /^validation error/],
  [{ name: 'a', cpuCount: 0 }, 400, /^validation error/],
  [{ name: 'a', cpuCount: 1.5 }, 400, /^validation error/],
  [{ name: 'a', memoryMB: 127 }, 400, /^validation error/],
  [{ name: '', cpuCount: 33 }, 400, 'Invalid name: invalid template ID: '],
  [{ name: 'a b' }, 400, 'Invalid name: invalid template ID: a b'],
  [{ name: 'n!/a' }, 400, 'Invalid name: invalid namespace: n!'],
  [{ name: 'a:t!' }, 400, 'Invalid name: invalid tag: t!'],
  [{ name: '\0' }, 400, /^Invalid name: invalid template ID: /],
  [{ name: '\ud800' }, 400, /^Invalid name: invalid template ID: /],
  [
    { name: 'a:6a3f0f53-2d23-4a8f-9f6d-0c6a3d6c1f11' },
    400,
    "Invalid tag: invalid tag '6a3f0f53-2d23-4a8f-9f6d-0c6a3d6c1f11': tag cannot be a UUID",
  ],
  [{ name: 'strangers/a:v1', cpuCount: 33 }, 400, "namespace 'strangers' must match your team 'acme'"],
  [{ name: 'a', cpuCount: 33, memoryMB: 129 }, 400, 'CPU count must be at most 32'],
  [{ name: 'a', cpuCount: 3, memoryMB: 129 }, 400, 'CPU count must be 1 or an even number'],
  [{ name: 'a', cpuCount: 31 }, 400, 'CPU count must be 1 or an even number'],
  [{ name: 'a', cpuCount: 10, memoryMB: 129 }, 400, `CPU count can't be higher than 8 ${MORE}`],
  [{ name: 'a', memoryMB: 129 }, 400, 'Memory must be divisible by 2'],
  [{ name: 'a', memoryMB: 999_999 }, 400, 'Memory must be divisible by 2'],
  [{ name: 'a', memoryMB: 8098 }, 400, `Memory can't be higher than 8096 MiB ${MORE}`],
]

describe('[POST /v3/templates]', () => {
  it('registers a build of a new template with the defaults', async () => {
    const { status, body } = await v3({ name: 'first', unknown: { a: 1 } })
    expect(status).toBe(202)
    expect(body).toEqual({
      templateID: expect.stringMatching(TEMPLATE_ID),
      buildID: expect.stringMatching(UUID),
      public: false,
      names: ['acme/first'],
      aliases: ['first'],
      tags: ['default'],
    })
    expect(await statusOf(body)).toEqual({
      templateID: body.templateID,
      buildID: body.buildID,
      status: 'waiting',
      logEntries: [],
      logs: [],
    })
    const listed = (await acme.withKey('GET', '/templates')).body.find(
      (item: { templateID: string }) => item.templateID === body.templateID,
    )
    expect(listed).toMatchObject({ cpuCount: 2, memoryMB: 1024, buildCount: 1, createdBy: { id: acme.userId, email: 'dev@acme.test' } })
  })

  it.each<[object, string[]]>([
    [{ name: 'tags:v1' }, ['v1']],
    [{ name: ' Tags:V1 ', tags: ['latest', ' V1 ', 'default'] }, ['default', 'latest', 'v1']],
    [{ alias: 'acme/tags:default', tags: [] }, ['default']],
    [{ name: 'tags', alias: 'ignored!', tags: ['x'] }, ['x']],
  ])('%j gets the tags %j', async (request, tags) => {
    const { body } = await v3(request)
    expect(body).toMatchObject({ names: ['acme/tags'] })
    expect(body.tags.toSorted()).toEqual(tags)
    expect(await tagsOf(body.buildID)).toEqual(tags)
  })

  it('uses the requested sizes, and the larger of both disk sizes', async () => {
    const sizes = async (request: object) => {
      const { buildID } = (await v3({ name: 'sizes', ...request })).body
      const row = await builds.world.database.db.selectFrom('build').selectAll().where('build_id', '=', buildID).executeTakeFirstOrThrow()
      return [row.cpu_count, row.memory_mib, row.disk_mib]
    }
    expect(await sizes({ cpuCount: 1, memoryMB: 128, minFreeDiskMb: 0 })).toEqual([1, 128, 4096])
    expect(await sizes({ cpuCount: 8, memoryMB: 8096, minFreeDiskMb: 5000 })).toEqual([8, 8096, 5000])
  })

  it.each([...NAMED_ERRORS, [{}, 400, 'Name is required'] as const, [{ tags: ['!'] }, 400, 'Name is required'] as const])(
    '%j is %i %s',
    async (request, code, message) => {
      const { status, body } = await v3(request)
      expect([status, body]).toEqual([code, { code, message: typeof message === 'string' ? message : expect.stringMatching(message) }])
    },
  )

  it.each([
    [['t!'], 'Invalid tag: invalid tag: t!'],
    [[''], 'Invalid tag: invalid tag: '],
    [
      ['ok', '6A3F0F53-2d23-4a8f-9f6d-0c6a3d6c1f11'],
      "Invalid tag: invalid tag '6a3f0f53-2d23-4a8f-9f6d-0c6a3d6c1f11': tag cannot be a UUID",
    ],
  ])('refuses the tags %j', async (tags, message) => {
    expect((await v3({ name: 'strangers/a', tags })).body).toEqual({ code: 400, message })
  })

  it('adds a build to the template with this name, and creates another template for another team', async () => {
    const first = (await v3({ name: 'again' })).body
    const second = (await v3({ name: 'acme/again:v2' })).body
    const theirs = (await v3({ name: 'again' }, stranger)).body
    expect(second.templateID).toBe(first.templateID)
    expect(second.buildID).not.toBe(first.buildID)
    expect(theirs).toMatchObject({ names: ['strangers/again'] })
    expect(theirs.templateID).not.toBe(first.templateID)
    const { buildCount, updatedAt, createdAt } = (await acme.withKey('GET', `/templates/${first.templateID}`)).body
    expect(buildCount).toBe(2)
    expect(Date.parse(updatedAt)).toBeGreaterThanOrEqual(Date.parse(createdAt))
  })

  it("creates an own template with another team's promoted name", async () => {
    const theirs = (await v3({ name: 'base' }, stranger)).body
    expect(theirs.names).toEqual(['strangers/base'])
    const ours = (await v3({ name: 'base' })).body
    expect(ours.names).toEqual(['acme/base'])
    expect([theirs.templateID, ours.templateID]).not.toContain(builds.world.templateId)
  })

  it('ends builds that were registered for one of its tags and never started', async () => {
    const waiting = (await v3({ name: 'super', tags: ['a', 'b'] })).body
    const other = (await v3({ name: 'super', tags: ['c'] })).body
    const started = (await v3({ name: 'super', tags: ['d'] })).body
    await acme.withKey('POST', `/v2/templates/${started.templateID}/builds/${started.buildID}`, { fromImage: 'debian' })
    await v3({ name: 'super', tags: ['b', 'd'] })
    expect(await statusOf(waiting)).toMatchObject({ status: 'error', reason: { message: SUPERSEDED } })
    expect((await statusOf(other)).status).toBe('waiting')
    expect((await statusOf(started)).status).toBe('building')
  })

  it('refuses the id of a template as a name, also of a deleted one', async () => {
    const { templateID } = (await v3({ name: 'kept' }, stranger)).body
    const gone = (await v3({ name: 'gone' })).body.templateID
    expect((await acme.withKey('DELETE', `/templates/${gone}`)).status).toBe(204)
    for (const id of [templateID, gone])
      expect((await v3({ name: id })).body).toEqual({ code: 409, message: `Alias '${id}' is already used` })
    expect((await v3({ name: 'gone' })).body.templateID).not.toBe(gone)
  })

  it('accepts only the team of the key', async () => {
    expect((await v3({ name: 'team', teamID: acme.teamId.toUpperCase() })).status).toBe(202)
    const refused = { code: 400, message: 'Team ID param mismatch with the API key' }
    for (const teamID of [stranger.teamId, 'x']) expect((await v3({ teamID, cpuCount: 33 })).body).toEqual(refused)
  })

  it('answers 400 for invalid JSON', async () => {
    const answer = await builds.api.call('POST', '/v3/templates', { body: '{"name"', headers: { 'content-type': 'application/json' } })
    expect(answer.body).toEqual({ code: 400, message: expect.stringMatching(/^Invalid request body: /) })
  })
})

describe('the limit of builds', () => {
  const message =
    'you have reached the maximum number of concurrent template builds (3). Please wait for existing builds to complete or contact support if you need more concurrent builds. On this server the limit is the setting SANDYARD_MAX_BUILDS.'
  const onSmallServer = async (name: string): Promise<Caller> =>
    addCaller(builds.world, await builds.world.startServer({ env: { SANDYARD_MAX_BUILDS: '3' } }), name)

  it('applies to concurrent requests, and refused ones leave nothing', async () => {
    const caller = await onSmallServer('Crowd')
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => v3({ name: `t${n}` }, caller)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 202, 202, ...Array.from({ length: 7 }, () => 429)])
    expect(answers.find(({ status }) => status === 429)?.body).toEqual({ code: 429, message })
    expect((await caller.withKey('GET', '/templates')).body).toHaveLength(3)
  })

  it('is checked before taken names, and ignores builds that the same request ends', async () => {
    const caller = await onSmallServer('Limited')
    const [first] = [await v3({ name: 'a' }, caller), await v3({ name: 'b' }, caller), await v3({ name: 'c' }, caller)]
    expect((await caller.withToken('POST', '/templates', { dockerfile: 'FROM a', alias: 'a' })).body).toEqual({ code: 429, message })
    expect((await v3({ name: 'a', tags: ['other'] }, caller)).status).toBe(429)
    expect(await statusOf(first.body, caller)).toMatchObject({ status: 'waiting' })
    expect((await v3({ name: 'a' }, caller)).status).toBe(202)
    expect((await caller.withKey('DELETE', `/templates/${first.body.templateID}`)).status).toBe(204)
    expect((await v3({ name: 'd' }, caller)).status).toBe(202)
  })
})

describe('[POST /v2/templates]', () => {
  it('answers in the legacy shape with the new build', async () => {
    const { status, body } = await acme.withKey('POST', '/v2/templates', { alias: 'second:v1', cpuCount: 4, memoryMB: 256 })
    expect(status).toBe(202)
    expect(body).toEqual({
      templateID: expect.stringMatching(TEMPLATE_ID),
      buildID: expect.stringMatching(UUID),
      cpuCount: 4,
      memoryMB: 256,
      diskSizeMB: 4096,
      public: false,
      aliases: ['second'],
      names: ['acme/second'],
      createdAt: expect.stringMatching(TIME),
      updatedAt: expect.stringMatching(TIME),
      createdBy: { id: acme.userId, email: 'dev@acme.test' },
      lastSpawnedAt: null,
      spawnCount: 0,
      buildCount: 1,
      envdVersion: '0.6.13',
      buildStatus: 'waiting',
    })
    expect(await tagsOf(body.buildID)).toEqual(['v1'])
    const again = (await acme.withKey('POST', '/v2/templates', { alias: 'second' })).body
    expect(again).toMatchObject({ templateID: body.templateID, buildCount: 2, cpuCount: 2, memoryMB: 1024 })
  })

  it.each(NAMED_ERRORS)('%j is %i %s', async ({ name: alias, ...rest }: { name?: unknown }, code, message) => {
    const { body } = await acme.withKey('POST', '/v2/templates', { alias, ...rest })
    expect(body).toEqual({ code, message: typeof message === 'string' ? message : expect.stringMatching(message) })
  })

  it('requires an alias and a key', async () => {
    expect((await acme.withKey('POST', '/v2/templates', {})).body).toMatchObject({
      code: 400,
      message: expect.stringMatching(/^validation error/),
    })
    expect((await acme.withKey('POST', '/v2/templates')).body).toMatchObject({
      code: 400,
      message: expect.stringMatching(/^validation error/),
    })
    expect((await acme.withToken('POST', '/v2/templates', { alias: 'x' })).status).toBe(401)
  })

  it('returns no creator after the user was deleted', async () => {
    const { db } = builds.world.database
    const leaver = await addCaller(builds.world, builds.api, 'Leavers')
    expect((await leaver.withKey('POST', '/v2/templates', { alias: 'x' })).body.createdBy).toEqual({
      id: leaver.userId,
      email: 'dev@leavers.test',
    })
    await db.deleteFrom('app_user').where('id', '=', leaver.userId).execute()
    for (const alias of ['x', 'y']) expect((await leaver.withKey('POST', '/v2/templates', { alias })).body.createdBy).toBeNull()
  })
})
