import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { settleBuild } from '../src/builds/queue/settle-build.ts'
import type { Answer } from './support/control-plane.ts'
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

const NO_BUILD = '00000000-0000-4000-8000-000000000000'
const NOT_WAITING = { code: 400, message: 'build is not in waiting state' }

const register = async (name: string, tags: string[] = [], caller = acme): Promise<Registered> =>
  (await caller.withKey('POST', '/v3/templates', { name, tags })).body
const path = ({ templateID, buildID }: Registered) => `/v2/templates/${templateID}/builds/${buildID}`
const start = (build: Registered, body: unknown = { fromImage: 'debian' }, caller = acme, headers = {}): Promise<Answer> =>
  caller.withKey('POST', path(build), body, headers)
const statusOf = async ({ templateID, buildID }: Registered, caller = acme) =>
  (await caller.withKey('GET', `/templates/${templateID}/builds/${buildID}/status`)).body
const jobOf = ({ buildID }: Registered) =>
  builds.world.database.db.selectFrom('build_job').selectAll().where('build_id', '=', buildID).executeTakeFirst()
const claim = ({ buildID }: Registered) =>
  builds.world.database.db
    .updateTable('build_job')
    .set({ server_id: 1, lease_until: new Date(Date.now() + 60_000), attempt: 1 })
    .where('build_id', '=', buildID)
    .execute()
const finish = ({ buildID }: Registered) =>
  builds.world.database.transaction((tx) =>
    settleBuild(tx, buildID, {
      kind: 'ready',
      result: { image: `i:${buildID}`, defaultUser: 'user', defaultWorkdir: '/home/user', env: {} },
    }),
  )

describe('[POST /v2/templates/{templateID}/builds/{buildID}]', () => {
  it('queues the requested build, and the first poll returns building', async () => {
    const build = await register('flow')
    const answer = await start(build, {
      fromImage: 'registry.test/a:1',
      fromImageRegistry: { type: 'registry', username: 'u', password: 'hunter2' },
      steps: [
        { type: 'RUN', args: ['true', 'root'] },
        { type: 'COPY', args: ['a', 'b', '', ''], filesHash: 'f'.repeat(64), force: true, gzip: false },
        { type: 'NOPE' },
      ],
      startCmd: 'serve',
      readyCmd: '',
      force: true,
      unknown: 1,
    })
    expect([answer.status, answer.text, answer.headers['content-length']]).toEqual([202, '', '0'])
    expect((await statusOf(build)).status).toBe('building')
    const job = await jobOf(build)
    expect(job?.plan).toEqual({
      source: { kind: 'image', reference: 'registry.test/a:1' },
      steps: [
        { type: 'RUN', args: ['true', 'root'], force: false },
        { type: 'COPY', args: ['a', 'b', '', ''], filesHash: 'f'.repeat(64), force: true },
        { type: 'NOPE', args: [], force: false },
      ],
      force: true,
      startCmd: 'serve',
    })
    expect(job?.sealed_credentials?.toString('latin1')).not.toContain('hunter2')
    expect(await start(build)).toMatchObject({ status: 400, body: NOT_WAITING })
    await finish(build)
    expect((await start(build)).body).toEqual(NOT_WAITING)
  })

  it('uses the ready build of an own or public template as the source', async () => {
    const base = await register('parent', ['v1'])
    await start(base)
    await finish(base)
    const child = await register('child')
    expect((await start(child, { fromTemplate: ' Acme/Parent:V1 ' })).status).toBe(202)
    expect((await jobOf(child))?.plan).toMatchObject({ source: { kind: 'template', buildId: base.buildID } })
    const theirs = await register('child', [], stranger)
    await start(theirs, { fromTemplate: 'base' }, stranger)
    expect((await jobOf(theirs))?.plan).toMatchObject({ source: { buildId: builds.world.buildId } })
  })

  it.each([
    ['nothing', "template 'nothing' not found"],
    ['acme/private', "template 'acme/private' not found"],
    ['base:v9', "tag 'v9' does not exist for template 'base'"],
    ['a b', 'invalid template ID: a b'],
  ])('accepts a build from %j, which then fails', async (fromTemplate, message) => {
    await register('private')
    const build = await register('orphan', [], stranger)
    expect((await start(build, { fromTemplate }, stranger)).status).toBe(202)
    const status = await statusOf(build, stranger)
    expect(status).toMatchObject({ status: 'error', reason: { message, step: 'base', logEntries: [{ level: 'error', step: 'base' }] } })
    expect(status.logEntries.at(-1).message).toContain(message)
    expect(await jobOf(build)).toBeUndefined()
  })

  it.each([
    [{ fromImage: 'a', fromTemplate: 'base' }, 'cannot specify both fromImage and fromTemplate'],
    [{}, 'must specify either fromImage or fromTemplate'],
    [{ fromImage: '', fromTemplate: '' }, 'must specify either fromImage or fromTemplate'],
  ])('%j fails the build and reports it once', async (body, message) => {
    const build = await register('sources')
    const answer = await start(build, body)
    expect(answer.body).toEqual({ code: 500, message: `Error when starting template build: ${message}` })
    expect(answer.headers['should-retry']).toBe('false')
    expect(await statusOf(build)).toMatchObject({ status: 'error', reason: { message } })
    expect((await start(build, body)).body).toEqual(NOT_WAITING)
  })

  const steps = (step: object) => ({ fromImage: 'a', steps: [step] })
  it.each<[string, unknown, RegExp]>([
    ['no body', '', /^validation error/],
    ['a text', '"x"', /^validation error/],
    ['a number', { fromImage: 1 }, /^validation error/],
    ['a step without type', steps({}), /^validation error/],
    ['numbers as args', steps({ type: 'RUN', args: [1] }), /^validation error/],
    ['too many steps', { fromImage: 'a', steps: Array.from({ length: 1001 }, () => ({ type: 'RUN' })) }, /^validation error/],
    ['an unknown registry', { fromImage: 'a', fromImageRegistry: { type: 'x' } }, /^validation error/],
    ['half of a registry', { fromImage: 'a', fromImageRegistry: { type: 'aws', awsAccessKeyId: 'x' } }, /^validation error/],
    ['NUL in args', steps({ type: 'RUN', args: ['a', 'b\0'] }), /^validation error: steps must not contain NUL/],
    [
      'a directory of the kernel',
      steps({ type: 'WORKDIR', args: ['/proc/self/fd/7'] }),
      /^validation error: step 1: WORKDIR .* cannot be in/,
    ],
    ['half a character', steps({ type: '\udc00' }), /^validation error: steps must not contain NUL/],
    ['NUL in an image', { fromImage: '\0' }, /^validation error: fromImage must not contain NUL/],
    ['NUL in a command', { fromImage: 'a', startCmd: '\0' }, /^validation error: startCmd must not contain NUL/],
    ['a broken one', '{"fromImage"', /^Invalid request body: /],
  ])('refuses a body with %s and changes nothing', async (_name, body, message) => {
    const build = await register('bodies')
    const answer = await start(build, body, acme, { 'content-type': 'application/json' })
    expect(answer.body).toEqual({ code: 400, message: expect.stringMatching(message) })
    expect((await statusOf(build)).status).toBe('waiting')
  })

  it('runs its checks in the documented order', async () => {
    const build = await register('order')
    const oldSdk = { 'user-agent': 'e2b-js-sdk/x' }
    const at = (templateID: string, buildID: string, caller = acme) => start({ templateID, buildID }, {}, caller, oldSdk)
    const unknown = (id: string) => ({
      code: 404,
      message: `Error when getting template: build '${NO_BUILD}' of template '${id}' not found`,
    })
    expect((await at(build.templateID, 'x')).body).toEqual({ code: 400, message: 'Invalid build ID: x' })
    expect((await at('nothing', 'x%00')).body).toEqual({ code: 400, message: 'Invalid build ID: x\0' })
    for (const id of [build.templateID, 'nothing', 'order']) expect((await at(id, NO_BUILD)).body).toEqual(unknown(id))
    for (const id of ['order', '%00', builds.world.templateId]) expect((await at(id, build.buildID)).status).toBe(404)
    expect((await at(build.templateID, build.buildID, stranger)).body).toEqual({
      code: 403,
      message: 'User does not have access to the template',
    })
    expect((await at(build.templateID, build.buildID)).body).toEqual({
      code: 400,
      message: "Error when parsing user agent: invalid version 'x'",
    })
    expect((await statusOf(build)).status).toBe('waiting')
    expect((await start({ ...build, buildID: build.buildID.toUpperCase() }, {}, stranger)).status).toBe(403)
    await start(build)
    expect((await at(build.templateID, build.buildID)).body).toEqual(NOT_WAITING)
    await acme.withKey('DELETE', `/templates/${build.templateID}`)
    expect((await at(build.templateID, build.buildID)).status).toBe(404)
  })

  it('requires a key', async () => {
    const build = await register('keys')
    expect((await acme.withToken('POST', path(build), { fromImage: 'a' })).status).toBe(401)
  })

  it.each([
    ['e2b-js-sdk/2.51.0', 'v2.1.0'],
    ['e2b-python-sdk/2.2.9', 'v2.0.0'],
  ])('selects for the client %s the builder %s', async (userAgent, version) => {
    const build = await register('agents')
    await start(build, { fromImage: 'a' }, acme, { 'user-agent': userAgent })
    const { db } = builds.world.database
    expect(await db.selectFrom('build').select('builder_version').where('build_id', '=', build.buildID).executeTakeFirst()).toEqual({
      builder_version: version,
    })
  })

  it('accepts exactly one of many concurrent starts', async () => {
    const build = await register('race')
    const answers = await Promise.all(Array.from({ length: 6 }, () => start(build)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 400, 400, 400, 400, 400])
  })

  it('cancels builds in progress for the same template and tag', async () => {
    const [queued, claimed, otherTag] = [await register('busy', ['a']), await register('busy', ['b', 'x']), await register('busy', ['c'])]
    for (const build of [queued, claimed, otherTag]) expect((await start(build)).status).toBe(202)
    await claim(claimed)
    expect((await start(await register('busy', ['a', 'b']))).status).toBe(202)
    expect(await statusOf(queued)).toMatchObject({ status: 'error', reason: { message: 'build was cancelled' } })
    expect((await jobOf(claimed))?.cancel_reason).toBe('build was cancelled')
    expect((await statusOf(otherTag)).status).toBe('building')
  })

  it('leaves one build in progress after concurrent starts for one tag', async () => {
    const all: Registered[] = []
    for (let n = 0; n < 5; n += 1) all.push(await register('herd', [`own${n}`]))
    const { db } = builds.world.database
    await db
      .insertInto('tag_assignment')
      .values(all.map(({ templateID, buildID }) => ({ template_id: templateID, build_id: buildID, tag: 'one' })))
      .execute()
    await Promise.all(all.map((build) => start(build)))
    const states = await Promise.all(all.map(async (build) => (await statusOf(build)).status))
    expect(states.map(String).toSorted()).toEqual(['building', 'error', 'error', 'error', 'error'])
  })

  it('is refused for a blocked team, which may still read', async () => {
    const build = await register('blocked', [], stranger)
    const setBlocked = (is_blocked: boolean) =>
      builds.world.database.db.updateTable('team').set({ is_blocked }).where('id', '=', stranger.teamId).execute()
    await setBlocked(true)
    builds.api.ctx.auth.cache.clear()
    try {
      const refused = { code: 403, message: 'team is blocked' }
      expect((await start({ ...build, templateID: 'nothing' }, { steps: 1 }, stranger)).status).toBe(400)
      expect((await start({ ...build, templateID: 'nothing' }, {}, stranger)).body).toEqual(refused)
      expect((await stranger.withKey('POST', '/v3/templates', { name: '!' })).body).toEqual(refused)
      expect((await stranger.withToken('POST', '/templates', { dockerfile: 'FROM a', cpuCount: 33 })).body).toEqual(refused)
      expect((await stranger.withToken('POST', `/templates/${build.templateID}`, { dockerfile: '', cpuCount: 33 })).body).toEqual(refused)
      expect((await statusOf(build, stranger)).status).toBe('waiting')
      const byToken = await stranger.withToken('GET', `/templates/${build.templateID}/builds/${build.buildID}/status`)
      expect(byToken.status).toBe(200)
    } finally {
      await setBlocked(false)
      builds.api.ctx.auth.cache.clear()
    }
  })
})
