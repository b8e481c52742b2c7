import { sql } from 'kysely'
import { seedIdentity } from '@sandyard/api/seed/seed-identity'
import { CHANNELS, notify } from '@sandyard/db/notify'
import { Secret } from '@sandyard/kit/config/secret'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BuildFailure, FAILURES } from '../src/builds/build-failure.ts'
import type { BuildJob, BuildRunner } from '../src/builds/build-runner.ts'
import { cancelBuild } from '../src/builds/queue/cancel-build.ts'
import { claimBuild } from '../src/builds/queue/claim-build.ts'
import { enqueueBuild } from '../src/builds/queue/enqueue-build.ts'
import { expireWaiting } from '../src/builds/queue/expire-waiting.ts'
import { unsealCredentials } from '../src/builds/queue/sealed-credentials.ts'
import { settleBuild } from '../src/builds/queue/settle-build.ts'
import { ensureInstallation } from '../src/settings/installation.ts'
import { findBuild, findJob, HeldRunner, messagesOf, PLAN, queueBuild, registerBuild, waitForEnd } from './support/builds.ts'
import { createWorld, waitFor, type World } from './support/control-plane.ts'

let world: World
beforeEach(async () => {
  world = await createWorld()
})
afterEach(() => world[Symbol.asyncDispose]())

const RESULT = { image: 'built:1', defaultUser: 'me', defaultWorkdir: '/me', env: { A: '1' }, startCmd: 'serve' }

const CLAIM = { serverId: 1, timeoutMs: 3_600_000 }

const endLeases = () =>
  world.database.db
    .updateTable('build_job')
    .set({ lease_until: sql<Date>`clock_timestamp() - interval '1 second'` })
    .where('server_id', 'is not', null)
    .execute()

async function eventsOf(buildId: string): Promise<string[]> {
  const rows = await world.database.db
    .selectFrom('event')
    .select('kind')
    .where(sql`data->>'buildId'`, '=', buildId)
    .orderBy('event_id')
    .execute()
  return rows.map(({ kind }) => kind)
}

describe('a queued build', () => {
  it('ends as ready with its result, its log and one event', async () => {
    const jobs: BuildJob[] = []
    const buildRunner: BuildRunner = async (job) => {
      jobs.push(job)
      job.log.write({ level: 'info', message: 'one', step: 'base' })
      job.log.write({ level: 'debug', message: 'two\0\ud800' })
      return RESULT
    }
    const server = await world.startServer({ loops: true, buildRunner })
    const credentials = { type: 'registry', username: 'u', password: 'p' } as const
    const buildId = await queueBuild(world, { credentials })
    expect(await waitForEnd(world, buildId)).toMatchObject({
      status: 'uploaded',
      image: 'built:1',
      default_user: 'me',
      default_workdir: '/me',
      env: { A: '1' },
      start_cmd: 'serve',
      ready_cmd: null,
      start_context: null,
      envd_version: '0.6.13',
      reason_message: null,
      log_count: 3,
    })
    expect(jobs).toMatchObject([{ buildId, credentials, teamId: world.teamId, sandboxId: expect.stringMatching(/^b[a-z0-9]{20}$/) }])
    expect(await messagesOf(world, buildId)).toEqual(['one', 'two\uFFFD\uFFFD', expect.stringMatching(/^Build finished, took \d/)])
    expect(await findJob(world, buildId)).toBeUndefined()
    expect(await eventsOf(buildId)).toEqual(['template.built'])
    await waitFor('the count', async () => {
      const metrics = await server.ctx.metrics.registry.metrics()
      return (
        metrics.includes('sandyard_build_attempt_seconds_count{outcome="ready"} 1') &&
        metrics.includes('sandyard_builds{state="running"} 0')
      )
    })
  })

  it.each<[string, Error, object]>([
    ['its step', new BuildFailure('exit status 7', '2'), { reason_message: 'exit status 7', reason_step: '2' }],
    ['the text for internal errors', new Error('secret'), { reason_message: FAILURES.internal, reason_step: null }],
  ])('fails with %s', async (_, error, expected) => {
    await world.startServer({ loops: true, buildRunner: () => Promise.reject(error) })
    const buildId = await queueBuild(world)
    const build = await waitForEnd(world, buildId)
    expect(build).toMatchObject({ status: 'failed', image: null, ...expected })
    expect(await messagesOf(world, buildId)).toEqual([`Build failed: ${build.reason_message}`])
    expect(await eventsOf(buildId)).toEqual(['template.build_failed'])
  })
})

describe('the queue', () => {
  it('gives each build to exactly one of several servers', async () => {
    const ran: string[] = []
    const buildRunner: BuildRunner = async ({ buildId }) => {
      ran.push(buildId)
      return RESULT
    }
    for (let servers = 0; servers < 3; servers += 1)
      await world.startServer({ loops: true, buildRunner, env: { SANDYARD_BUILD_WIDTH: '3' } })
    const builds = await Promise.all(Array.from({ length: 12 }, () => queueBuild(world)))
    for (const buildId of builds) expect((await waitForEnd(world, buildId)).status).toBe('uploaded')
    expect(ran.sort()).toEqual(builds.sort())
  })

  it('runs no more builds at once than its width', async () => {
    const runner = new HeldRunner()
    await world.startServer({ loops: true, buildRunner: runner.run, env: { SANDYARD_BUILD_WIDTH: '2' } })
    const builds = [await queueBuild(world), await queueBuild(world), await queueBuild(world)]
    await runner.call(1)
    const waiting = await world.database.db.selectFrom('build_job').select('build_id').where('server_id', 'is', null).execute()
    expect(waiting).toEqual([{ build_id: builds[2] }])
    ;(await runner.call(0)).finish()
    ;(await runner.call(2)).finish()
    ;(await runner.call(1)).finish()
    for (const buildId of builds) expect((await waitForEnd(world, buildId)).status).toBe('uploaded')
  })

  it('keeps a place for other teams', async () => {
    const other = await seedIdentity(world.database, { teamName: 'Other', email: 'other@acme.test' })
    const runner = new HeldRunner()
    await world.startServer({ loops: true, buildRunner: runner.run, env: { SANDYARD_BUILD_WIDTH: '4' } })
    const builds: string[] = []
    for (let n = 0; n < 4; n += 1) builds.push(await queueBuild(world))
    await runner.call(2)
    const late = await queueBuild(world, { teamId: other.teamId })
    expect((await runner.call(3)).job.buildId).toBe(late)
    for (let n = 0; n < 4; n += 1) (await runner.call(n)).finish()
    ;(await runner.call(4)).finish()
    for (const buildId of [...builds, late]) expect((await waitForEnd(world, buildId)).status).toBe('uploaded')
  })

  it('claims the oldest build of the team with the fewest running builds', async () => {
    const other = await seedIdentity(world.database, { teamName: 'Other', email: 'other@acme.test' })
    const names = new Map<string | undefined, string>()
    for (const name of ['a1', 'a2', 'a3']) names.set(await queueBuild(world), name)
    for (const name of ['b1', 'b2']) names.set(await queueBuild(world, { teamId: other.teamId }), name)
    const order = []
    for (let claims = 0; claims < 6; claims += 1) order.push(names.get((await claimBuild(world.database, CLAIM))?.buildId))
    expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', undefined])
  })

  it('serves teams in turns when only one build runs at a time', async () => {
    const other = await seedIdentity(world.database, { teamName: 'Other', email: 'other@acme.test' })
    const names = new Map<string | undefined, string>()
    for (const name of ['a1', 'a2', 'a3']) names.set(await queueBuild(world), name)
    for (const name of ['b1', 'b2']) names.set(await queueBuild(world, { teamId: other.teamId }), name)
    const order = []
    for (let claims = 0; claims < 5; claims += 1) {
      const { buildId = '' } = (await claimBuild(world.database, CLAIM)) ?? {}
      order.push(names.get(buildId))
      await world.database.transaction((tx) => settleBuild(tx, buildId, { kind: 'failed', message: 'enough' }))
    }
    expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3'])
  })

  it('queues a build only once', async () => {
    const buildId = await queueBuild(world)
    const { tokenSeed } = await ensureInstallation(world.database.db)
    const again = { buildId, teamId: world.teamId, plan: PLAN, builderVersion: 'v1' as const }
    expect(await world.database.transaction((tx) => enqueueBuild(tx, tokenSeed, again))).toBe(false)
  })

  it('encrypts credentials for one build and one installation', async () => {
    const credentials = { type: 'registry', username: 'u', password: 'hunter2' } as const
    const buildId = await queueBuild(world, { credentials })
    const sealed = (await findJob(world, buildId))?.sealed_credentials ?? Buffer.alloc(0)
    expect(sealed.includes('hunter2')).toBe(false)
    const { tokenSeed } = await ensureInstallation(world.database.db)
    expect(unsealCredentials(tokenSeed, buildId, sealed)).toEqual(credentials)
    expect(() => unsealCredentials(tokenSeed, world.buildId, sealed)).toThrow()
    expect(() => unsealCredentials(new Secret('other'), buildId, sealed)).toThrow()
  })
})

describe('a server that stops', () => {
  it('returns its builds to the queue, and another server continues them', async () => {
    const runner = new HeldRunner()
    const first = await world.startServer({ loops: true, buildRunner: runner.run })
    const buildId = await queueBuild(world)
    const { job } = await runner.call(0)
    job.log.write({ level: 'info', message: 'first' })
    await first[Symbol.asyncDispose]()
    expect(await findJob(world, buildId)).toMatchObject({ server_id: null, lease_until: null, attempt: 1, abandoned: 0 })
    await world.startServer({ loops: true, buildRunner: runner.run })
    const second = await runner.call(1)
    expect(second.job.sandboxId).not.toBe(job.sandboxId)
    second.finish()
    expect((await waitForEnd(world, buildId)).status).toBe('uploaded')
    expect(await messagesOf(world, buildId)).toEqual([
      'first',
      expect.stringContaining('begins again'),
      expect.stringContaining('finished'),
    ])
  })
})

describe('cancelling', () => {
  const cancel = (buildId: string, reason: string = FAILURES.cancelled): Promise<void> =>
    world.database.transaction((tx) => cancelBuild(tx, buildId, reason))

  it.each([
    ['registered', () => registerBuild(world)],
    ['queued', () => queueBuild(world)],
  ])('ends a build that is %s at once', async (_, arrange) => {
    const buildId = await arrange()
    await cancel(buildId, FAILURES.superseded)
    expect(await findBuild(world, buildId)).toMatchObject({ status: 'failed', reason_message: FAILURES.superseded, reason_step: null })
    expect(await findJob(world, buildId)).toBeUndefined()
    expect(await messagesOf(world, buildId)).toEqual([`Build failed: ${FAILURES.superseded}`])
    expect(await eventsOf(buildId)).toEqual(['template.build_failed'])
  })

  it('stops a running build', async () => {
    const runner = new HeldRunner()
    await world.startServer({ loops: true, buildRunner: runner.run })
    const buildId = await queueBuild(world)
    const { signal } = await runner.call(0)
    await cancel(buildId)
    expect(await waitForEnd(world, buildId)).toMatchObject({ status: 'failed', reason_message: FAILURES.cancelled })
    expect(signal.aborted).toBe(true)
  })

  it('wins over a concurrent success, and does not change an ended build', async () => {
    const runner = new HeldRunner()
    runner.isDeaf = true
    await world.startServer({ loops: true, buildRunner: runner.run })
    const buildId = await queueBuild(world)
    const call = await runner.call(0)
    await cancel(buildId)
    call.finish()
    expect(await waitForEnd(world, buildId)).toMatchObject({ status: 'failed', reason_message: FAILURES.cancelled })
    await cancel(buildId, FAILURES.cancelledByAdmin)
    expect(await findBuild(world, buildId)).toMatchObject({ status: 'failed', reason_message: FAILURES.cancelled })
    expect(await eventsOf(buildId)).toEqual(['template.build_failed'])
  })

  it('ends a build whose server is dead without running it again', async () => {
    const buildId = await queueBuild(world)
    await claimBuild(world.database, CLAIM)
    await cancel(buildId)
    await endLeases()
    const runner = new HeldRunner()
    await world.startServer({ loops: true, buildRunner: runner.run })
    expect(await waitForEnd(world, buildId)).toMatchObject({ status: 'failed', reason_message: FAILURES.cancelled })
    expect(runner.calls).toEqual([])
  })
})

describe('time limits', () => {
  it('end only the build that takes too long', async () => {
    const runner = new HeldRunner()
    const server = await world.startServer({ loops: true, buildRunner: runner.run })
    const buildId = await queueBuild(world)
    await runner.call(0)
    await world.database.db
      .updateTable('build_job')
      .set({ started_at: sql<Date>`clock_timestamp() - interval '61 minutes'` })
      .execute()
    await world.database.transaction((tx) => notify(tx, CHANNELS.buildChanged, buildId))
    expect(await waitForEnd(world, buildId)).toMatchObject({ status: 'failed', reason_message: FAILURES.timedOut })
    expect(server.ctx.config.builds.timeoutMs).toBe(3_600_000)
  })

  it('end a build that is never started', async () => {
    const [late, soon, queued] = [await registerBuild(world), await registerBuild(world), await queueBuild(world)]
    const age = (buildId: string, minutes: number) =>
      world.database.db
        .updateTable('build')
        .set({ created_at: sql<Date>`clock_timestamp() - make_interval(mins => ${minutes})` })
        .where('build_id', '=', buildId)
        .execute()
    await Promise.all([age(late, 41), age(soon, 39), age(queued, 41)])
    await Promise.all([expireWaiting(world.database), expireWaiting(world.database)])
    expect(await findBuild(world, late)).toMatchObject({ status: 'failed', reason_message: FAILURES.neverStarted })
    expect(await findBuild(world, soon)).toMatchObject({ status: 'waiting' })
    expect(await findBuild(world, queued)).toMatchObject({ status: 'building' })
    expect(await eventsOf(late)).toEqual(['template.build_failed'])
  })
})
