import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BuildFailure } from '../src/builds/build-failure.ts'
import type { BuildPlan } from '../src/builds/build-plan.ts'
import type { BuildRunner } from '../src/builds/build-runner.ts'
import { HeldRunner } from './support/builds.ts'
import { createWorld, waitFor, type Answer, type Server, type ServerOptions, type World } from './support/control-plane.ts'
import { createReadyMadeFolder, type ReadyMadeFolder } from './support/ready-made-folder.ts'
import { insertTemplate, seedParty, type Party } from './support/templates.ts'

let world: World
let tree: ReadyMadeFolder
let tenant: Party
beforeEach(async () => {
  world = await createWorld()
  tree = await createReadyMadeFolder()
  tenant = await seedParty(world, 'Tenant')
  await tree.write('tiny')
})
afterEach(async () => {
  await world[Symbol.asyncDispose]()
  await tree[Symbol.asyncDispose]()
})

const start = (options: ServerOptions = {}, waitMs = 20_000): Promise<Server> =>
  world.startServer({ loops: true, readyMade: { folder: tree.path, waitMs }, ...options })
const create = (api: Server, templateID = 'tiny', apiKey = tenant.apiKey): Promise<Answer> =>
  api.call('POST', '/v2/sandboxes', { body: { templateID }, apiKey })
const install = (api: Server, name = 'tiny'): Promise<Answer> =>
  api.call('POST', `/ready-made-templates/${name}`, { apiKey: tenant.apiKey })
const look = async (api: Server, name = 'tiny') =>
  (await api.call('GET', '/ready-made-templates', { apiKey: tenant.apiKey })).body.find((one: { name: string }) => one.name === name)
const buildsOf = () => world.database.db.selectFrom('ready_made_build').selectAll().orderBy('created_at').execute()
const failing: BuildRunner = async () => {
  throw new BuildFailure("failed to run command 'apt-get': exit status 100", '1')
}

async function installed(api: Server): Promise<void> {
  await waitFor('the template', async () => (await look(api)).state === 'installed')
}

describe('[GET /ready-made-templates]', () => {
  it('lists what comes with the server for every team, and builds nothing', async () => {
    await tree.write('another', { version: 4 })
    const api = await start()
    const { status, body } = await api.call('GET', '/ready-made-templates', { apiKey: tenant.apiKey })
    const absent = { state: 'absent', installedVersion: null, isOutdated: false, templateID: null, build: null, failure: null }
    expect([status, body]).toEqual([
      200,
      [
        { name: 'another', description: 'The template another', version: 4, ...absent },
        { name: 'tiny', description: 'The template tiny', version: 1, ...absent },
      ],
    ])
    expect(await buildsOf()).toEqual([])
    expect((await api.call('GET', '/ready-made-templates', { apiKey: null })).status).toBe(401)
  })
})

describe('[POST /ready-made-templates/{name}]', () => {
  it('starts one build, however often it is called, and does nothing once it is installed', async () => {
    const runner = new HeldRunner()
    const api = await start({ buildRunner: runner.run })
    const answers = await Promise.all([install(api), install(api), install(api)])
    expect(answers.map(({ status, body }) => [status, body.state])).toEqual(answers.map(() => [202, 'building']))
    ;(await runner.call(0)).finish()
    await installed(api)
    expect((await install(api)).body).toMatchObject({ state: 'installed', installedVersion: 1, build: null })
    expect(await buildsOf()).toHaveLength(1)
    expect((await install(api, 'absent')).body).toEqual({ code: 404, message: "There is no ready-made template 'absent'" })
    expect((await install(api, 'a%2Fb')).status).toBe(404)
    expect((await api.call('POST', '/ready-made-templates/tiny', { apiKey: null })).status).toBe(401)
  })
})

describe('a ready-made template', () => {
  it('is built by the first create of any team, for which all creates wait, and serves every team', async () => {
    const runner = new HeldRunner()
    const api = await start({ buildRunner: runner.run })
    expect(await look(api)).toMatchObject({ state: 'absent', version: 1, installedVersion: null, templateID: null })
    expect(await buildsOf()).toEqual([])
    const creates = [create(api), create(api), create(api, 'tiny', world.credentials.apiKey), create(api, 'TINY:default')]
    const held = await runner.call(0)
    const { job } = held
    expect(job.plan).toMatchObject({ source: { kind: 'template', buildId: world.buildId }, steps: [{ type: 'RUN', args: ['true'] }] })
    expect(job.resources).toMatchObject({ cpuCount: 2, memoryMib: 512 })
    expect(await look(api)).toMatchObject({ state: 'building', build: { steps: 1, version: 1 } })
    held.finish()
    const answers = await Promise.all(creates)
    expect(answers.map(({ status, body }) => [status, body.alias])).toEqual(answers.map(() => [201, 'tiny']))
    expect((await create(api)).status).toBe(201)
    expect(runner.calls).toHaveLength(1)
    expect(await look(api)).toMatchObject({ state: 'installed', installedVersion: 1, isOutdated: false, build: null, failure: null })
  })

  it('is built once by two servers', async () => {
    const runner = new HeldRunner()
    const servers = await Promise.all([start({ buildRunner: runner.run }), start({ buildRunner: runner.run })])
    const creates = servers.map((api) => create(api))
    ;(await runner.call(0)).finish()
    expect((await Promise.all(creates)).map(({ status }) => status)).toEqual([201, 201])
    expect(await buildsOf()).toHaveLength(1)
  })

  it('answers 503 with the progress when the build takes longer than a create may wait', async () => {
    const runner = new HeldRunner()
    const api = await start({ buildRunner: runner.run }, 300)
    const refused = await create(api)
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '5', 'should-retry': 'true' } })
    expect(refused.body.message).toMatch(/^template 'tiny' comes with this server and is being built for the first time \(for \d+ s so far/)
    expect(refused.body.message).toContain('sandyard templates install tiny')
    const held = await runner.call(0)
    const { job } = held
    job.log.write({ level: 'info', message: 'Setting up', step: '1' })
    await job.log.flush()
    expect((await create(api)).body.message).toContain(', step 1 of 1)')
    expect((await look(api)).build).toMatchObject({ step: 1, lastLine: 'Setting up' })
    held.finish()
    await installed(api)
    expect((await create(api)).status).toBe(201)
    expect(runner.calls).toHaveLength(1)
  })

  it('says why its build failed, and is not built again at once', async () => {
    const api = await start({ buildRunner: failing })
    const refused = await create(api)
    expect(refused.status).toBe(503)
    expect(refused.body.message).toMatch(
      /could not be built: failed to run command 'apt-get': exit status 100 \(it is tried again in \d+ s\)$/,
    )
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    expect((await create(api)).status).toBe(503)
    expect((await install(api)).body).toMatchObject({
      state: 'failed',
      failure: { message: "failed to run command 'apt-get': exit status 100" },
    })
    expect(await buildsOf()).toHaveLength(1)
  })

  it('is built again after the back-off, and at once when a person asks after its folder has changed', async () => {
    let isBroken = true
    const api = await start({ buildRunner: async (job, signal) => (isBroken ? failing(job, signal) : new HeldRunner().run(job, signal)) })
    expect((await create(api)).status).toBe(503)
    await world.database.db
      .updateTable('build')
      .set({ finished_at: new Date(Date.now() - 60_000) })
      .where('status', '=', 'failed')
      .execute()
    expect((await create(api)).status).toBe(503)
    expect(await buildsOf()).toHaveLength(2)
    await tree.write('tiny', { command: 'false' })
    isBroken = false
    expect((await install(api)).body).toMatchObject({ state: 'building' })
    expect(await buildsOf()).toHaveLength(3)
  })

  it('is the base of a build of a team', async () => {
    const plans: BuildPlan[] = []
    const api = await start({
      buildRunner: async ({ buildId, plan }) => {
        plans.push(plan)
        return { image: `built:${buildId}`, defaultUser: 'user', defaultWorkdir: '/', env: {} }
      },
    })
    const { apiKey } = tenant
    const { templateID, buildID } = (await api.call('POST', '/v3/templates', { body: { name: 'mine' }, apiKey })).body
    const url = `/v2/templates/${templateID}/builds/${buildID}`
    expect((await api.call('POST', url, { body: { fromTemplate: 'tiny' }, apiKey })).status).toBe(202)
    await waitFor('both builds', () => plans.length === 2)
    const [ready] = await buildsOf()
    expect(plans[1]?.source).toMatchObject({ kind: 'template', buildId: ready?.build_id })
  })

  it('brings its files to the build', async () => {
    await tree.write('tiny', { file: 'hello' })
    const runner = new HeldRunner()
    const api = await start({ buildRunner: runner.run })
    const creating = create(api)
    const held = await runner.call(0)
    const { job } = held
    const hash = job.plan.steps.find(({ type }) => type === 'COPY')?.filesHash ?? ''
    const archive = await api.ctx.uploads.open(job.teamId, hash)
    expect(Buffer.concat((await archive?.toArray()) as Buffer[]).toString()).toContain('hello')
    held.finish()
    expect((await creating).status).toBe(201)
  })

  it('whose file is broken is a 500 without details, and other names stay 404', async () => {
    await tree.write('tiny', { source: 'throw new Error("secret detail")' })
    const api = await start()
    const refused = await create(api)
    expect([refused.status, refused.body.message]).toEqual([500, "The files of the ready-made template 'tiny' on this server are broken"])
    expect(await create(api, 'absent')).toMatchObject({ status: 404, body: { message: "template 'absent' not found" } })
    expect((await create(api, 'tiny:v2')).status).toBe(404)
    expect((await install(api, 'absent')).status).toBe(404)
    expect(await buildsOf()).toEqual([])
  })
})

describe('an upgrade of a ready-made template', () => {
  it('builds again in place what a newer release has changed, while the former build serves', async () => {
    const former = await start()
    expect((await create(former)).status).toBe(201)
    const { templateID } = await look(former)
    await former[Symbol.asyncDispose]()
    await tree.write('tiny', { version: 2, command: 'echo two' })
    const runner = new HeldRunner()
    const api = await start({ buildRunner: runner.run })
    const held = await runner.call(0)
    const { job } = held
    expect([job.templateId, job.plan.steps[0]?.args[0]]).toEqual([templateID, 'echo two'])
    expect(await look(api)).toMatchObject({ state: 'installed', isOutdated: true, installedVersion: 1, build: { version: 2 } })
    expect((await create(api)).status).toBe(201)
    held.finish()
    await waitFor('the new version', async () => (await look(api)).installedVersion === 2)
    const { body } = await api.call('GET', '/v2/sandboxes', { apiKey: tenant.apiKey })
    expect(body.map(({ state }: { state: string }) => state)).toEqual(['running', 'running'])
  })

  it('does nothing on a server with the same or an older version', async () => {
    await tree.write('tiny', { version: 3 })
    const newer = await start()
    expect((await create(newer)).status).toBe(201)
    expect((await install(newer)).body).toMatchObject({ state: 'installed', build: null })
    await tree.write('tiny', { version: 2, command: 'echo old' })
    const older = await start()
    expect((await install(older)).body).toMatchObject({ state: 'installed', installedVersion: 3, isOutdated: false, build: null })
    await older.ctx.readyMade.upgrade(new AbortController().signal)
    expect(await buildsOf()).toHaveLength(1)
  })

  it('builds again when the files change without a new version', async () => {
    await tree.write('tiny', { file: 'one' })
    const former = await start()
    expect((await create(former)).status).toBe(201)
    await tree.write('tiny', { file: 'two' })
    const api = await start()
    await waitFor('the second build', async () => (await buildsOf()).length === 2)
    await installed(api)
  })

  it('that fails leaves the former build', async () => {
    const former = await start()
    expect((await create(former)).status).toBe(201)
    await former[Symbol.asyncDispose]()
    await tree.write('tiny', { version: 2 })
    const api = await start({ buildRunner: failing })
    await waitFor('the failure', async () => (await look(api)).failure !== null)
    expect(await look(api)).toMatchObject({ state: 'installed', installedVersion: 1, isOutdated: true })
    expect((await create(api)).status).toBe(201)
  })
})

describe('among tenants', () => {
  it("a team's own template of the same name wins for that team alone, and is not touched", async () => {
    const api = await start()
    const own = await insertTemplate(world, tenant, { alias: 'tiny' })
    expect((await create(api)).body.message).toBe("tag 'default' does not exist for template 'tiny'")
    expect(await buildsOf()).toEqual([])
    const other = await create(api, 'tiny', world.credentials.apiKey)
    expect([other.status, other.body.templateID === own]).toEqual([201, false])
  })

  it('refuses to give the name without a namespace to a team, and changes of the template', async () => {
    const api = await start({ env: { SANDYARD_TEAM_PUBLIC_NAMES: 'true' } })
    const { apiKey } = tenant
    const own = await insertTemplate(world, tenant, { alias: 'tiny' })
    const promoted = await api.call('PATCH', `/templates/${own}`, { body: { public: true }, apiKey })
    expect([promoted.status, promoted.body.message]).toEqual([409, expect.stringContaining("Public template name 'tiny' is already taken")])
    const owner = world.credentials.apiKey
    const { templateID } = (await create(api, 'tiny', owner)).body
    expect((await api.call('DELETE', `/templates/${templateID}`, { apiKey })).status).toBe(403)
    expect((await api.call('PATCH', `/v2/templates/${templateID}`, { body: { public: false }, apiKey })).status).toBe(403)
    expect((await api.call('DELETE', `/templates/${templateID}`, { apiKey: owner })).status).toBe(400)
  })

  it('leaves a name to the template that an administrator gave it to before', async () => {
    const own = await insertTemplate(world, tenant, { alias: 'tiny' })
    await world.database.db.insertInto('template_alias').values({ alias: 'tiny', namespace: null, template_id: own }).execute()
    const api = await start()
    expect(await look(api)).toMatchObject({ state: 'taken', templateID: null })
    expect((await install(api)).body).toMatchObject({ state: 'taken' })
    expect((await create(api, 'tiny', world.credentials.apiKey)).status).toBe(404)
    expect(await buildsOf()).toEqual([])
  })
})
