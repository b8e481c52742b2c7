import { afterAll, beforeAll, expect, it } from 'vitest'
import type { BuildPlan } from '../../src/builds/build-plan.ts'
import { waitForEnd } from '../support/builds.ts'
import { ADMIN_TOKEN, createWorld, type Server, type World } from '../support/control-plane.ts'
import { Browser } from '../support/dashboard-browser.ts'
import { seedParty, type Party } from '../support/templates.ts'

let world: World
let api: Server
let ours: Party
let browser: Browser
let stranger: Browser
const plans = new Map<string, BuildPlan>()
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({
    loops: true,
    buildRunner: async ({ buildId, plan }) => {
      plans.set(buildId, plan)
      return { image: `built:${buildId}`, defaultUser: 'user', defaultWorkdir: '/home/user', env: {} }
    },
  })
  ours = await seedParty(world, 'Ours')
  const theirs = await seedParty(world, 'Theirs')
  browser = await new Browser(api).logIn({ key: ours.apiKey })
  stranger = await new Browser(api).logIn({ key: theirs.apiKey })
})
afterAll(() => world[Symbol.asyncDispose]())

interface Built {
  readonly templateID: string
  readonly buildID: string
}

/** Builds as the SDK does, and waits for the end. */
async function build(name: string, body: object, sizes: object = {}): Promise<Built> {
  const { body: registered } = await api.call('POST', '/v3/templates', { apiKey: ours.apiKey, body: { name, ...sizes } })
  const { templateID, buildID } = registered as Built
  const started = await api.call('POST', `/v2/templates/${templateID}/builds/${buildID}`, { apiKey: ours.apiKey, body })
  expect(started.status, started.text).toBe(202)
  await waitForEnd(world, buildID)
  return { templateID, buildID }
}

const rebuild = (buildId: string, by = browser) => by.call('POST', `/api/builds/${buildId}/rebuild`)
const detail = async (buildId: string) => (await browser.call('GET', `/api/builds/${buildId}`)).body
const steps = [{ type: 'RUN', args: ['make', 'root'], force: true }]

it('builds the same instructions again, with the same size and tags', async () => {
  const { templateID, buildID } = await build('app:v7', { fromImage: 'debian', steps, startCmd: 'serve' }, { cpuCount: 4, memoryMB: 2048 })
  expect(await detail(buildID)).toMatchObject({ canRebuild: true, tags: ['v7'] })
  expect((await rebuild(buildID, stranger)).status).toBe(404)
  const again = await rebuild(buildID)
  expect(again, again.text).toMatchObject({ status: 200, body: { templateId: templateID } })
  const { buildId } = again.body
  expect(buildId).not.toBe(buildID)
  expect((await waitForEnd(world, buildId)).status).toBe('uploaded')
  expect(plans.get(buildId)).toEqual(plans.get(buildID))
  expect(await detail(buildId)).toMatchObject({ canRebuild: true, tags: ['v7'], cpuCount: 4, memoryMib: 2048, status: 'ready' })
})

it('takes the newest build of a base that is a template', async () => {
  const old = await build('base-of-it', { fromImage: 'debian' })
  const { buildID } = await build('upon', { fromTemplate: 'base-of-it' })
  const newer = (await rebuild(old.buildID)).body.buildId
  await waitForEnd(world, newer)
  const { buildId } = (await rebuild(buildID)).body
  await waitForEnd(world, buildId)
  expect([plans.get(buildID)?.source, plans.get(buildId)?.source]).toMatchObject([{ buildId: old.buildID }, { buildId: newer }])
  await api.call('DELETE', `/templates/${old.templateID}`, { apiKey: ours.apiKey })
  const refused = await rebuild(buildID)
  expect(refused, refused.text).toMatchObject({ status: 409, body: { message: expect.stringContaining('because of its base') } })
})

it('builds the Dockerfile of the first interface again', async () => {
  const dockerfile = 'FROM debian\nRUN true\n'
  const made = await api.call('POST', '/templates', { apiKey: null, headers: { authorization: ours.bearer }, body: { dockerfile } })
  expect(made.status, made.text).toBe(202)
  const { templateID, buildID } = made.body
  const started = await api.call('POST', `/templates/${templateID}/builds/${buildID}`, {
    apiKey: null,
    headers: { authorization: ours.bearer },
  })
  expect(started.status, started.text).toBe(202)
  await waitForEnd(world, buildID)
  // As of a release that kept nothing else.
  await world.database.db.deleteFrom('build_plan').where('build_id', '=', buildID).execute()
  expect(await detail(buildID)).toMatchObject({ canRebuild: true, dockerfile })
  const { buildId } = (await rebuild(buildID)).body
  await waitForEnd(world, buildId)
  expect(plans.get(buildId)).toEqual(plans.get(buildID))
  expect(await detail(buildId)).toMatchObject({ dockerfile, tags: ['default'] })
})

it('says why a build cannot be made again', async () => {
  const registry = { type: 'registry', username: 'u', password: 'hunter2' }
  const secret = await build('secret', { fromImage: 'registry.test/a:1', fromImageRegistry: registry })
  expect(await detail(secret.buildID)).toMatchObject({ canRebuild: false })
  expect((await rebuild(secret.buildID)).body.message).toContain('credentials, which are not kept')
  const copied = await build('copied', { fromImage: 'debian', steps: [{ type: 'COPY', args: ['a', 'b'], filesHash: 'f'.repeat(64) }] })
  expect((await rebuild(copied.buildID)).body).toMatchObject({ code: 409, message: expect.stringContaining('the files of step 1') })
  const long = await build('long', { fromImage: 'debian', steps: [{ type: 'RUN', args: ['x'.repeat(300_000)] }] })
  expect(await detail(long.buildID)).toMatchObject({ canRebuild: false })
  expect((await rebuild(long.buildID)).body).toMatchObject({ code: 409, message: expect.stringContaining('instructions are not kept') })
  const gone = await build('gone', { fromImage: 'debian' })
  await api.call('DELETE', `/templates/${gone.templateID}`, { apiKey: ours.apiKey })
  expect((await rebuild(gone.buildID)).status).toBe(404)
  const dump = JSON.stringify(await world.database.db.selectFrom('build_plan').selectAll().execute())
  expect(dump).not.toContain('hunter2')
})

it('counts against the limit of builds, and is refused for a blocked team', async () => {
  const { buildID } = await build('limited', { fromImage: 'debian' })
  const { db } = world.database
  await db.updateTable('team').set({ max_builds: 1 }).where('id', '=', ours.teamId).execute()
  await api.call('POST', '/v3/templates', { apiKey: ours.apiKey, body: { name: 'waits' } })
  expect((await rebuild(buildID)).status).toBe(429)
  await db.updateTable('team').set({ max_builds: null, is_blocked: true }).where('id', '=', ours.teamId).execute()
  expect((await rebuild(buildID)).status).toBe(403)
  await db.updateTable('team').set({ is_blocked: false }).where('id', '=', ours.teamId).execute()
  const operator = await new Browser(api).logIn({ adminToken: ADMIN_TOKEN })
  expect((await rebuild(buildID, operator)).status, 'another team is chosen').toBe(404)
})
