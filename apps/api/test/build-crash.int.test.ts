import { Secret } from '@sandyard/kit/config/secret'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Database, type Tx } from '@sandyard/db/database'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { FakeRuntime } from '@sandyard/runtime/fake/fake-runtime'
import { DEFAULT_EGRESS } from '@sandyard/runtime/types'
import { FAILURES } from '../src/builds/build-failure.ts'
import { BuildWorker } from '../src/builds/queue/build-worker.ts'
import { claimBuild, type ClaimedBuild } from '../src/builds/queue/claim-build.ts'
import { Placement } from '../src/servers/placement.ts'
import { findBuild, findJob, HeldRunner, messagesOf, queueBuild, waitForEnd } from './support/builds.ts'
import { createWorld, waitFor, type World } from './support/control-plane.ts'

let world: World
let runtime: FakeRuntime
beforeEach(async () => {
  world = await createWorld()
  runtime = new FakeRuntime({ engine: world.engine })
})
afterEach(() => world[Symbol.asyncDispose]())

/** Expires the leases of one server, or all leases, as if the servers were dead. */
async function endLeases(serverId?: number): Promise<void> {
  const leases = world.database.db
    .updateTable('build_job')
    .set({ lease_until: sql<Date>`clock_timestamp() - interval '1 second'` })
    .where('server_id', 'is not', null)
  await (serverId === undefined ? leases : leases.where('server_id', '=', serverId)).execute()
}

/** Claims the build as another server after its lease has expired, even if the former server renews it meanwhile. */
async function takeAway(serverId: number): Promise<ClaimedBuild> {
  while (true) {
    await endLeases()
    const claimed = await claimBuild(world.database, { serverId, timeoutMs: 3_600_000 })
    if (claimed !== undefined) return claimed
  }
}

describe('a server that lost its lease', () => {
  it('stops and changes nothing any more', async () => {
    const runner = new HeldRunner()
    runner.isDeaf = true
    const server = await world.startServer({ loops: true, buildRunner: runner.run })
    const buildId = await queueBuild(world)
    const call = await runner.call(0)
    call.job.log.write({ level: 'info', message: 'in time' })
    await call.job.log.flush()
    const taken = await takeAway(2)
    expect(taken).toMatchObject({ attempt: 2, abandoned: 1, formerSandboxId: call.job.sandboxId })
    call.job.log.write({ level: 'info', message: 'too late' })
    await expect(call.job.log.flush()).rejects.toThrow('is over')
    await waitFor('the abort signal', () => call.signal.aborted)
    call.finish()
    await server.ctx[Symbol.asyncDispose]()
    expect(await findBuild(world, buildId)).toMatchObject({ status: 'building', image: null, log_count: 1 })
    expect(await findJob(world, buildId)).toMatchObject({ attempt: 2, server_id: 2 })
    expect(await messagesOf(world, buildId)).toEqual(['in time'])
  })

  it('has its sandbox removed by the next attempt', async () => {
    const buildId = await queueBuild(world)
    const dead = await claimBuild(world.database, { serverId: 1, timeoutMs: 3_600_000 })
    if (dead === undefined) throw new Error('nothing was claimed')
    const spec = {
      sandboxId: dead.sandboxId,
      image: 'base:1',
      resources: dead.resources,
      instanceKey: new Secret('key'),
      allowPrivilegeGain: true,
      mounts: [],
      egress: DEFAULT_EGRESS,
    }
    for (const incarnation of [1, 2]) await runtime.create({ ...spec, incarnation })
    await endLeases()
    const runner = new HeldRunner()
    await world.startServer({ loops: true, buildRunner: runner.run })
    const call = await runner.call(0)
    expect(call.job.sandboxId).not.toBe(dead.sandboxId)
    expect(await runtime.list()).toEqual([])
    call.finish()
    expect((await waitForEnd(world, buildId)).status).toBe('uploaded')
  })
})

it('fails a build whose servers die repeatedly', async () => {
  const buildId = await queueBuild(world)
  for (let serverId = 1; serverId <= 3; serverId += 1) await takeAway(serverId)
  await endLeases()
  const runner = new HeldRunner()
  await world.startServer({ loops: true, buildRunner: runner.run })
  expect(await waitForEnd(world, buildId)).toMatchObject({ status: 'failed', reason_message: FAILURES.internal })
  expect(runner.calls).toEqual([])
})

it('gives a build to another server only after its lease has expired', async () => {
  const buildId = await queueBuild(world)
  await claimBuild(world.database, { serverId: 1, timeoutMs: 3_600_000 })
  expect(await claimBuild(world.database, { serverId: 2, timeoutMs: 3_600_000 })).toBeUndefined()
  await endLeases()
  expect(await claimBuild(world.database, { serverId: 2, timeoutMs: 3_600_000 })).toMatchObject({ buildId, attempt: 2, abandoned: 1 })
})

/** Fails the configured number of transactions. */
class AbsentDatabase extends Database {
  absences = 0

  override transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    if (this.absences <= 0) return super.transaction(work)
    this.absences -= 1
    return Promise.reject(new Error('the database is unavailable'))
  }
}

it('ends a build once when the database is unavailable at its end', async () => {
  const server = await world.startServer()
  await using database = new AbsentDatabase({ url: world.database.url, applicationName: 'test', log: silentLogger() })
  const runner = new HeldRunner()
  const parts = { database, runtime, tokenSeed: server.ctx.installation.tokenSeed, runner: runner.run, log: silentLogger() }
  const worker = new BuildWorker({
    ...parts,
    serverId: 1,
    width: 1,
    timeoutMs: 3_600_000,
    hasMemory: () => Promise.resolve(true),
    placement: new Placement(),
  })
  const buildId = await queueBuild(world)
  worker.onRefresh()
  const call = await runner.call(0)
  database.absences = 2
  call.job.log.write({ level: 'info', message: 'last words' })
  call.finish()
  expect((await waitForEnd(world, buildId)).status).toBe('uploaded')
  expect(await messagesOf(world, buildId)).toEqual(['last words', expect.stringMatching(/^Build finished/)])
  await worker.stop()
})
