import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseApiConfig } from '@sandyard/api/config'
import { createContext } from '@sandyard/api/context'
import { checkGivenDatabase } from '@sandyard/api/program/given-database'
import { Database } from '@sandyard/db/database'
import { migrate } from '@sandyard/db/migrate'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { FakeRuntime } from '@sandyard/runtime/fake/fake-runtime'
import { createPooledTestDatabase, startPgBouncer } from '@sandyard/test-kit/pgbouncer'
import { runnerOn } from './support/builds.ts'
import { createWorld, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld(await createPooledTestDatabase())
  api = await world.startServer({ loops: true, buildRunner: (job, signal) => runnerOn(api.runtime)(job, signal) })
})
afterAll(() => world[Symbol.asyncDispose]())

const create = (): Promise<Answer> => api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 600 } })
const ask = (sandboxID: string, action: string, body: unknown = {}): Promise<Answer> =>
  api.call('POST', `/sandboxes/${sandboxID}/${action}`, { body })

it('is a pool: its connections are not the sessions of the database', async () => {
  const { url, directUrl } = world.database
  expect(url).not.toBe(directUrl)
  await expect(migrate({ url, log: silentLogger() })).rejects.toThrow(
    /through a connection pool in transaction mode.*set DATABASE_DIRECT_URL/,
  )
  expect(await migrate({ url: directUrl, log: silentLogger() })).toEqual({ landed: [], newer: [] })
})

it('carries a sandbox through create, pause, resume, snapshot, fork, network update and kill', async () => {
  const { status, body } = await create()
  expect(status).toBe(201)
  const id: string = body.sandboxID
  expect((await ask(id, 'pause')).status).toBe(204)
  expect((await api.call('GET', `/sandboxes/${id}`)).body.state).toBe('paused')
  expect((await ask(id, 'resume', { timeout: 600 })).status).toBe(201)
  expect((await ask(id, 'snapshots')).status).toBe(201)
  const forked = await ask(id, 'fork', { timeout: 600 })
  expect(forked.body[0].sandbox.sandboxID).toMatch(/^i/)
  expect((await api.call('PUT', `/sandboxes/${id}/network`, { body: { denyOut: ['0.0.0.0/0'] } })).status).toBe(204)
  expect((await api.call('GET', '/v2/sandboxes')).body.length).toBe(2)
  for (const sandboxID of [id, forked.body[0].sandbox.sandboxID]) {
    expect((await api.call('DELETE', `/sandboxes/${sandboxID}`)).status).toBe(204)
  }
  await waitFor('the removals', () => world.engine.sandboxes.size === 0)
})

it('carries a build, which a notification starts', async () => {
  const registered = await api.call('POST', '/v3/templates', { body: { name: 'pooled' } })
  const { templateID, buildID } = registered.body
  const path = `/templates/${templateID}/builds/${buildID}`
  expect((await api.call('POST', `/v2${path}`, { body: { fromImage: 'debian' } })).status).toBe(202)
  await waitFor('the build', async () => (await api.call('GET', `${path}/status`)).body.status === 'ready')
})

it('serves more requests at once than the pool has connections', async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, create))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
  await Promise.all(answers.map(({ body }) => api.call('DELETE', `/sandboxes/${body.sandboxID}`)))
})

it('bounds the statements of a transaction, and only there', async () => {
  const timeouts = sql<{ all: string }>`
    select current_setting('statement_timeout') || ' ' || current_setting('idle_in_transaction_session_timeout') as all
  `
  const within = await world.database.transaction((tx) => timeouts.execute(tx))
  expect(within.rows).toEqual([{ all: '15s 30s' }])
  // The session belongs to other clients of the pool too.
  expect((await timeouts.execute(world.database.db)).rows).toEqual([{ all: '0 0' }])
})

it('is named in a sentence when it is the only URL', async () => {
  const { url, directUrl } = world.database
  await checkGivenDatabase({ url, directUrl })
  await expect(checkGivenDatabase({ url, directUrl: url })).rejects.toThrow('is behind a connection pool: set DATABASE_DIRECT_URL')
})

it('in session mode may be the direct URL', async () => {
  const { url, directUrl } = world.database
  await using pool = await startPgBouncer(directUrl, 'session')
  await checkGivenDatabase({ url, directUrl: pool.url })
  expect(await migrate({ url: pool.url, log: silentLogger() })).toEqual({ landed: [], newer: [] })
  await using database = new Database({ url, directUrl: pool.url, applicationName: 'test', log: silentLogger() })
  await using runtime = new FakeRuntime({ engine: world.engine })
  const config = parseApiConfig({ SANDYARD_UPLOADS_DIR: world.uploadsDir })
  // With its heartbeat and its listener.
  await using ctx = await createContext(config, { database, runtime, log: silentLogger() })
  await ctx.start()
})

it('announces changes: a key that is deleted by hand is refused at once', async () => {
  expect((await api.call('GET', '/v2/sandboxes')).status).toBe(200)
  await world.database.db.deleteFrom('api_key').execute()
  await waitFor('the refusal', async () => (await api.call('GET', '/v2/sandboxes')).status === 401)
})
