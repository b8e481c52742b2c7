import { sql, type Updateable } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Database } from '@sandyard/db/database'
import { sandboxTrafficToken, TOKEN_SEED_SETTING } from '@sandyard/db/sandbox-token'
import type { SandboxState, SandboxTable } from '@sandyard/db/schema/sandbox'
import { Secret } from '@sandyard/kit/config/secret'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { createPooledTestDatabase } from '@sandyard/test-kit/pgbouncer'
import type { TestDatabase } from '@sandyard/test-kit/postgres'
import { databaseRoutes } from '../src/routes/database-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { signUrl } from './support/sign-url.ts'
import { SandboxRows } from '@sandyard/test-kit/sandbox-rows'
import { answerJson, startStandInApi } from './support/stand-in-api.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'
import { until } from './support/until.ts'

let home: TestDatabase
let database: Database
let service: RunningService
let proxy: RunningProxy
let rows: SandboxRows

beforeAll(async () => {
  // Behind a pool in transaction mode everything but the notifications comes through it.
  home = await createPooledTestDatabase()
  database = new Database({ url: home.url, directUrl: home.directUrl, applicationName: 'test', log: silentLogger() })
  service = await startService((req, res) => {
    if (req.url === '/stream') res.write('begun')
    else res.end(`done ${req.headers.host}`)
  })
  rows = await SandboxRows.create(database)
  proxy = await startProxy(databaseRoutes(database, silentLogger()))
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

function setState(sandboxId: string, state: SandboxState, more: Updateable<SandboxTable> = {}): Promise<void> {
  return rows.setState(sandboxId, state, { endpoint_host: '127.0.0.1', endpoint_daemon_port: service.port, ...more })
}

async function statusOf(sandboxId: string): Promise<number> {
  const answer = await fetch(proxy.url, { headers: { 'E2b-Sandbox-Id': sandboxId, 'E2b-Sandbox-Port': '49983' } })
  await answer.text()
  return answer.status
}

it('follows a sandbox through its life: the answer is correct directly after each change', async () => {
  expect(await statusOf('iunknown')).toBe(502)
  await rows.insert('i1')
  expect(await statusOf('i1')).toBe(502)
  await setState('i1', 'running')
  expect(await statusOf('i1')).toBe(200)
  await setState('i1', 'killing')
  await until('the end', () => proxy.ctx.tracker.count === 0)
  await expect.poll(() => statusOf('i1')).toBe(502)
  await rows.change('i1', (tx) => tx.deleteFrom('sandbox').where('sandbox_id', '=', 'i1').execute())
  expect(await statusOf('i1')).toBe(502)
})

it('finds a sandbox whose id was requested before its create, as soon as the create is announced', async () => {
  expect(await statusOf('iearly')).toBe(502)
  await rows.insert('iearly')
  await setState('iearly', 'running')
  await expect.poll(() => statusOf('iearly'), { interval: 5, timeout: 20_000 }).toBe(200)
})

it('resets open streams at a change, also at one during a disconnect of the listener', async () => {
  for (const sandboxId of ['i2', 'i3']) {
    await rows.insert(sandboxId)
    await setState(sandboxId, 'running')
    using client = new RawClient(proxy.port)
    client.send(['GET /stream HTTP/1.1', `Host: 49983-${sandboxId}.x`])
    await client.until('begun')
    if (sandboxId === 'i2') await setState(sandboxId, 'pausing')
    else {
      await database.db.updateTable('sandbox').set({ state: 'killing' }).where('sandbox_id', '=', sandboxId).execute()
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sandyard-proxy-routes'`.execute(
        database.db,
      )
    }
    expect(await client.closed()).toBe('reset')
    if (sandboxId === 'i2') await setState(sandboxId, 'paused')
    expect(await statusOf(sandboxId)).toBe(502)
  }
})

it('reads which ports are public, the mask of the host, and what traffic may resume', async () => {
  await using api = await startStandInApi()
  await using own = await startProxy(databaseRoutes(database, silentLogger()), { apiInternalUrl: api.url })
  const tokenSeed = new Secret('ab'.repeat(32))
  const seed = { name: TOKEN_SEED_SETTING, value: tokenSeed.reveal() }
  await database.db.insertInto('server_setting').values(seed).execute()
  const ask = async (headers: Record<string, string> = {}): Promise<[number, string]> => {
    const address = { 'E2b-Sandbox-Id': 'i6', 'E2b-Sandbox-Port': String(service.port) }
    const answer = await fetch(own.url, { headers: { ...address, ...headers } })
    return [answer.status, await answer.text()]
  }
  const token = { 'e2b-traffic-access-token': sandboxTrafficToken(tokenSeed, 'i6') }
  const other = { endpoint_daemon_port: 9 }
  await rows.insert('i6')
  await setState('i6', 'running', { ...other, network: JSON.stringify({ allowPublicTraffic: false, maskRequestHost: 'm:${PORT}' }) })
  expect((await ask())[0]).toBe(403)
  expect(await ask(token)).toEqual([200, `done m:${service.port}`])

  await setState('i6', 'paused', { ...other, auto_resume: true, pause_keep: 'files' })
  await expect.poll(async () => (await ask(token))[0]).toBe(502)
  await setState('i6', 'paused', other)
  expect((await ask())[1]).toContain("can't be resumed")
  expect(api.asked).toEqual([])
  api.handle = (_, res) => void setState('i6', 'running', other).then(() => answerJson(res, 200))
  expect(await ask(token)).toEqual([200, `done m:${service.port}`])
  expect(api.asked.length).toBe(1)
  await setState('i6', 'paused', { ...other, auto_resume: false })
  await expect.poll(async () => (await ask(token))[0]).toBe(502)
  await database.db.deleteFrom('server_setting').where('name', '=', TOKEN_SEED_SETTING).execute()
})

it('[proxy signed URL] finds the sandbox among the secured ones by the seed of the installation', async () => {
  const tokenSeed = new Secret('ab'.repeat(32))
  const signed = (sandboxId: string): string => proxy.url + signUrl(sandboxId, { path: 'f' }, tokenSeed)
  for (const sandboxId of ['i4', 'i5']) {
    await rows.insert(sandboxId)
    await setState(sandboxId, 'running')
  }
  await rows.change('i5', (tx) => tx.updateTable('sandbox').set({ is_secure: false }).where('sandbox_id', '=', 'i5').execute())
  expect((await fetch(signed('i4'))).status).toBe(503)
  await database.db.insertInto('server_setting').values({ name: TOKEN_SEED_SETTING, value: tokenSeed.reveal() }).execute()
  expect((await fetch(signed('i4'))).status).toBe(200)
  expect((await fetch(signed('i5'))).status).toBe(401)
  await rows.change('i4', (tx) => tx.deleteFrom('sandbox').where('sandbox_id', '=', 'i4').execute())
  await expect.poll(async () => (await fetch(signed('i4'))).status).toBe(401)
})
