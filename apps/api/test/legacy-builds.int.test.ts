import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { settleBuild } from '../src/builds/queue/settle-build.ts'
import { createBuildsWorld, type BuildsWorld, type Caller } from './support/build-callers.ts'

let builds: BuildsWorld
let acme: Caller
let stranger: Caller
beforeAll(async () => {
  builds = await createBuildsWorld()
  ;({ acme, stranger } = builds)
})
afterAll(() => builds[Symbol.asyncDispose]())

interface Registered {
  readonly templateID: string
  readonly buildID: string
}

const DOCKERFILE = '# comment\nFROM debian:bookworm-slim\nRUN true\n'
const NO_UUID = '00000000-0000-4000-8000-000000000000'
const MORE = '(if you need to increase this limit, please contact support)'

const create = (body: object, caller = acme) => caller.withToken('POST', '/templates', { dockerfile: '', ...body })
const rebuild = (templateID: string, body: object = {}, caller = acme) =>
  caller.withToken('POST', `/templates/${templateID}`, { dockerfile: DOCKERFILE, ...body })
const start = ({ templateID, buildID }: Registered, caller = acme) => caller.withToken('POST', `/templates/${templateID}/builds/${buildID}`)
const statusOf = async ({ templateID, buildID }: Registered) =>
  (await acme.withToken('GET', `/templates/${templateID}/builds/${buildID}/status`)).body
const planOf = async ({ buildID }: Registered) =>
  (await builds.world.database.db.selectFrom('build_job').select('plan').where('build_id', '=', buildID).executeTakeFirst())?.plan
const namesOf = async (templateID: string) => (await acme.withKey('GET', `/templates/${templateID}`)).body.names

/** The errors of both registrations (control-plane.md 10.2, 10.3), in order. */
const SHARED_ERRORS: [object, number, string | RegExp][] = [
  [{ dockerfile: undefined }, 400, /^validation error/],
  [{ dockerfile: 1 }, 400, /^validation error/],
  [{ cpuCount: 0 }, 400, /^validation error/],
  [{ startCmd: '\0' }, 400, /^validation error: startCmd must not contain NUL/],
  [{ dockerfile: 'FROM a\ud800' }, 400, /^validation error: dockerfile must not contain NUL/],
  [{ cpuCount: 33, alias: '!' }, 400, 'CPU count must be at most 32'],
  [{ memoryMB: 8098, alias: '!' }, 400, `Memory can't be higher than 8096 MiB ${MORE}`],
  [{ alias: '!', dockerfile: 'NOPE' }, 400, 'Invalid alias: invalid template ID: !'],
  [{ alias: '' }, 400, 'Invalid alias: invalid template ID: '],
  [{ alias: 'a:v1' }, 400, 'Invalid alias: invalid template ID: a:v1'],
  [{ alias: 'strangers/a' }, 400, "namespace 'strangers' must match your team 'acme'"],
  [{ dockerfile: 'FROM a\nCOPY . /app', alias: 'held' }, 400, /^Dockerfile line 2: COPY has no build context/],
  [{ dockerfile: 'FROM a\nRUN --mount=type=cache,target=/c x' }, 400, /^Dockerfile line 2: RUN --mount needs BuildKit/],
  [{ dockerfile: 'FROM a\nWORKDIR /proc/self/fd/7' }, 400, /^Dockerfile line 2: WORKDIR: a working directory cannot be in/],
  [{ dockerfile: '# nothing' }, 400, 'Dockerfile: there is no FROM'],
  [{ dockerfile: 'FROM a', alias: 'held' }, 403, "Alias 'held' already used"],
]

describe('[POST /templates]', () => {
  beforeAll(async () => {
    expect((await create({ alias: 'held' })).status).toBe(202)
  })

  it('always creates a new template, and answers in the legacy shape', async () => {
    const { status, body } = await create({
      dockerfile: DOCKERFILE,
      alias: 'acme/Named',
      cpuCount: 1,
      memoryMB: 128,
      startCmd: 'serve',
      readyCmd: 'true',
    })
    expect(status).toBe(202)
    expect(body).toMatchObject({
      cpuCount: 1,
      memoryMB: 128,
      public: false,
      aliases: ['named'],
      names: ['acme/named'],
      createdBy: { id: acme.userId, email: 'dev@acme.test' },
      lastSpawnedAt: null,
      spawnCount: 0,
      buildCount: 1,
      envdVersion: '0.6.13',
      buildStatus: 'waiting',
    })
    const [first, second] = [(await create({})).body, (await create({})).body]
    expect(second.templateID).not.toBe(first.templateID)
    expect([first.names, first.aliases]).toEqual([[], []])
  })

  it.each(SHARED_ERRORS)('%j is %i %s', async (body, code, message) => {
    expect((await create(body)).body).toEqual({ code, message: typeof message === 'string' ? message : expect.stringMatching(message) })
  })

  it('acts for the team in the request, or the default team of the user', async () => {
    const { db } = builds.world.database
    const refused = { code: 403, message: 'You are not allowed to access this team' }
    for (const teamID of [stranger.teamId, 'x', '']) expect((await create({ teamID, cpuCount: 33 })).body).toEqual(refused)
    expect((await create({ teamID: acme.teamId.toUpperCase(), alias: 'mine' })).body.names).toEqual(['acme/mine'])
    await db.insertInto('team_member').values({ team_id: acme.teamId, user_id: stranger.userId, is_default: false }).execute()
    expect((await create({ teamID: acme.teamId, alias: 'guest' }, stranger)).body.names).toEqual(['acme/guest'])
    expect((await create({ alias: 'guest' }, stranger)).body.names).toEqual(['strangers/guest'])
    await db.updateTable('team_member').set({ is_default: false }).where('user_id', '=', stranger.userId).execute()
    expect((await create({}, stranger)).body).toEqual({ code: 500, message: 'Default team not found' })
    await db.deleteFrom('team_member').where('user_id', '=', stranger.userId).execute()
    expect((await create({}, stranger)).body).toEqual({ code: 403, message: "You don't have access to any teams" })
    await db.insertInto('team_member').values({ team_id: stranger.teamId, user_id: stranger.userId, is_default: true }).execute()
  })

  it('needs a token', async () => {
    const answer = await acme.withKey('POST', '/templates', { dockerfile: '' })
    expect(answer.body).toEqual({ code: 401, message: 'authorization header is missing' })
  })
})

describe('[POST /templates/{templateID}/builds/{buildID}]', () => {
  it('builds the Dockerfile that the template was created with, once', async () => {
    const build = (await create({ dockerfile: DOCKERFILE, startCmd: 'serve', readyCmd: 'true' })).body
    const answer = await start(build)
    expect([answer.status, answer.text]).toEqual([202, ''])
    expect(await planOf(build)).toEqual({
      source: { kind: 'dockerfile', text: DOCKERFILE },
      steps: [],
      force: true,
      startCmd: 'serve',
      readyCmd: 'true',
    })
    expect((await statusOf(build)).status).toBe('building')
    expect((await start(build)).body).toEqual({ code: 400, message: 'build is not in waiting state' })
  })

  it('answers 501 for a build that needs a pushed image', async () => {
    const unserved = { code: 501, message: expect.stringContaining('takes no pushed images') }
    const build = (await create({})).body
    expect((await start(build)).body).toEqual(unserved)
    expect((await statusOf(build)).status).toBe('waiting')
    const current = (await acme.withKey('POST', '/v3/templates', { name: 'current' })).body
    expect((await start(current)).body).toEqual(unserved)
  })

  it('runs its checks in the documented order', async () => {
    const build = (await create({ dockerfile: DOCKERFILE })).body
    const missing = (id: string) => ({
      code: 404,
      message: `Error when getting template: build '${NO_UUID}' of template '${id}' not found`,
    })
    expect((await start({ templateID: 'x', buildID: 'y' })).body).toEqual({ code: 400, message: 'Invalid build ID: y' })
    for (const id of ['x', build.templateID]) expect((await start({ templateID: id, buildID: NO_UUID })).body).toEqual(missing(id))
    expect((await start(build, stranger)).body).toEqual({ code: 403, message: 'User does not have access to the template' })
    expect((await acme.withKey('POST', `/templates/${build.templateID}/builds/${build.buildID}`)).status).toBe(401)
  })
})

describe('[POST /templates/{templateID}]', () => {
  it('registers another build and queues it at once', async () => {
    const { templateID, buildID } = (await create({ alias: 'again', cpuCount: 4 })).body
    const { status, body } = await rebuild(templateID, { startCmd: 'serve' })
    expect(status).toBe(202)
    expect(body).toMatchObject({ templateID, names: ['acme/again'], cpuCount: 2, memoryMB: 1024, buildCount: 2, buildStatus: 'building' })
    expect(body.buildID).not.toBe(buildID)
    expect(await planOf(body)).toMatchObject({
      source: { kind: 'dockerfile', text: DOCKERFILE },
      startCmd: 'serve',
    })
    expect((await statusOf(body)).status).toBe('building')
    expect((await statusOf({ templateID, buildID })).reason.message).toMatch(/superseded by a newer one/)
  })

  it('makes a later start request do nothing in every state of the build', async () => {
    const { templateID } = (await create({})).body
    const build = (await rebuild(templateID)).body
    expect((await start(build)).status).toBe(202)
    expect(await planOf(build)).toBeDefined()
    await builds.world.database.transaction((tx) => settleBuild(tx, build.buildID, { kind: 'failed', message: 'x' }))
    expect((await start(build)).status).toBe(202)
    expect((await statusOf(build)).status).toBe('error')
    expect((await start(build, stranger)).status).toBe(403)
  })

  it('cancels the build in progress', async () => {
    const { templateID } = (await create({})).body
    const first = (await rebuild(templateID)).body
    expect((await statusOf(first)).status).toBe('building')
    const second = (await rebuild(templateID)).body
    expect((await statusOf(first)).reason).toEqual({ message: 'build was cancelled', logEntries: [] })
    expect((await statusOf(second)).status).toBe('building')
  })

  it('replaces the name of the template', async () => {
    const { templateID } = (await create({ alias: 'old-name' })).body
    expect((await rebuild(templateID, { alias: 'old-name' })).body.names).toEqual(['acme/old-name'])
    expect((await rebuild(templateID, { alias: 'new-name' })).body.names).toEqual(['acme/new-name'])
    expect((await rebuild(templateID)).body.names).toEqual(['acme/new-name'])
    const other = (await create({ alias: 'old-name' })).body.templateID
    expect((await rebuild(other, { alias: 'new-name' })).body).toEqual({ code: 403, message: "Alias 'new-name' already used" })
    expect((await rebuild(other, { alias: templateID })).body).toEqual({ code: 409, message: `Alias '${templateID}' is already used` })
    expect([await namesOf(templateID), await namesOf(other)]).toEqual([['acme/new-name'], ['acme/old-name']])
  })

  it.each([...SHARED_ERRORS, [{ dockerfile: ' ' }, 400, 'Dockerfile: it is empty'] as const])(
    '%j is %i %s',
    async (body, code, message) => {
      const { templateID } = (await create({})).body
      expect((await rebuild(templateID, body)).body).toEqual({
        code,
        message: typeof message === 'string' ? message : expect.stringMatching(message),
      })
    },
  )

  it('checks the template before the build', async () => {
    const bad = { cpuCount: 33, dockerfile: '' }
    const own = (await create({ alias: 'by-name' })).body.templateID
    const gone = (await create({})).body.templateID
    await acme.withKey('DELETE', `/templates/${gone}`)
    expect((await rebuild('a.b', bad)).body).toEqual({ code: 400, message: 'Invalid template ID: a.b' })
    expect((await rebuild('acme%2Fby-name', bad)).body).toEqual({ code: 400, message: 'Invalid template ID: acme/by-name' })
    for (const id of ['nothing', 'by-name', gone])
      expect((await rebuild(id, bad)).body).toEqual({ code: 404, message: `Template '${id}' not found` })
    expect((await rebuild(own, bad, stranger)).body).toEqual({ code: 403, message: `You do not have access to the template '${own}'` })
    expect((await rebuild('nothing', { ...bad, teamID: stranger.teamId })).body).toEqual({
      code: 403,
      message: 'You are not allowed to access this team',
    })
    expect((await acme.withKey('POST', `/templates/${own}`, { dockerfile: DOCKERFILE })).body).toEqual({
      code: 401,
      message: 'authorization header is missing',
    })
  })
})
