import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BuildFailure, FAILURES } from '../src/builds/build-failure.ts'
import type { BuildJob, BuildRunner } from '../src/builds/build-runner.ts'
import { queueBuild, findJob, messagesOf, waitForEnd } from './support/builds.ts'
import { createWorld, type World } from './support/control-plane.ts'

let world: World
beforeEach(async () => {
  world = await createWorld()
})
afterEach(() => world[Symbol.asyncDispose]())

const RESULT = { image: 'built:1', defaultUser: 'me', defaultWorkdir: '/me', env: { A: '1' }, startCmd: 'serve' }

async function eventsOf(buildId: string): Promise<string[]> {
  const rows = await world.database.db
    .selectFrom('event')
    .select('kind')
    .where(sql`data->>'buildId'`, '=', buildId)
    .orderBy('event_id')
    .execute()
  return rows.map(({ kind }) => kind)
}

describe('a build of the queue', () => {
  it('is ready with its result, its log and one event', async () => {
    const jobs: BuildJob[] = []
    const buildRunner: BuildRunner = async (job) => {
      jobs.push(job)
      job.log.write({ level: 'info', message: 'one', step: 'base' })
      job.log.write({ level: 'debug', message: 'two\0\ud800' })
      return RESULT
    }
    await world.startServer({ loops: true, buildRunner })
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
