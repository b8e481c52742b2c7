import { afterAll, beforeAll, expect, it } from 'vitest'
import { Database } from '@sandyard/db/database'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { createTestDatabase, type TestDatabase } from '@sandyard/test-kit/postgres'
import { startPostgresServer, type PostgresServer } from '@sandyard/test-kit/postgres-server'
import { SandboxRows } from '@sandyard/test-kit/sandbox-rows'
import { databaseRoutes } from '../src/routes/database-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'

let postgres: PostgresServer
let home: TestDatabase
let database: Database
let service: RunningService
let proxy: RunningProxy
beforeAll(async () => {
  // Its own server, because the one of the other tests must go on.
  postgres = await startPostgresServer()
  home = await createTestDatabase(postgres.url)
  database = new Database({ url: home.url, applicationName: 'test', log: silentLogger() })
  service = await startService((req, res) => {
    if (req.url === '/stream') res.write('begun')
    else res.end('done')
  })
  proxy = await startProxy(databaseRoutes(database, silentLogger()))
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

async function ask(sandboxId: string): Promise<{ readonly status: number; readonly body: unknown }> {
  const answer = await fetch(proxy.url, { headers: { 'E2b-Sandbox-Id': sandboxId, 'E2b-Sandbox-Port': '49983' } })
  const text = await answer.text()
  return { status: answer.status, body: text === 'done' ? text : JSON.parse(text) }
}

it('answers 503 while the database is away, keeps open streams, and follows changes again when it is back', async () => {
  const rows = await SandboxRows.create(database)
  const endpoint = { endpoint_host: '127.0.0.1', endpoint_daemon_port: service.port }
  for (const sandboxId of ['i1', 'i2']) {
    await rows.insert(sandboxId)
    await rows.setState(sandboxId, 'running', endpoint)
  }
  expect((await ask('i1')).status).toBe(200)
  using stream = new RawClient(proxy.port)
  stream.send(['GET /stream HTTP/1.1', 'Host: 49983-i1.x'])
  await stream.until('begun')

  await postgres.stop()
  const message = 'The sandbox cannot be reached right now. Try again in a moment.'
  expect(await ask('i2')).toEqual({ status: 503, body: { sandboxId: 'i2', message, code: 503 } })
  // The route of the other one is cached for a while.
  await expect.poll(async () => (await ask('i1')).status).toBe(503)
  expect((await fetch(`${proxy.url}/health`)).status).toBe(200)
  expect(proxy.ctx.tracker.count).toBe(1)

  await postgres.start()
  await expect.poll(async () => (await ask('i1')).status).toBe(200)
  expect((await ask('i2')).status).toBe(200)
  await rows.setState('i1', 'killing', endpoint)
  expect(await stream.closed()).toBe('reset')
  await expect.poll(async () => (await ask('i1')).status).toBe(502)
})
