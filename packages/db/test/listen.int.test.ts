import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Database } from '@sandyard/db/database'
import { listen } from '@sandyard/db/listen'
import { notify } from '@sandyard/db/notify'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { createTestDatabase, type TestDatabase } from '@sandyard/test-kit/postgres'

const log = silentLogger()
let home: TestDatabase
let database: Database
beforeAll(async () => {
  home = await createTestDatabase()
  database = new Database({ url: home.url, applicationName: 'test', log })
})
afterAll(async () => {
  await database[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

const until = (what: string, test: () => boolean): Promise<true> =>
  pollUntil({ what, timeoutMs: 20_000, everyMs: 5 }, () => (test() ? true : undefined))

it('receives committed notifications, no rolled back ones, and refreshes after a reconnect', async () => {
  const heard: string[] = []
  let refreshes = 0
  let losses = 0
  await using listener = listen({
    url: home.url,
    applicationName: 'listen-test',
    channels: ['route_changed'],
    log,
    onNotification: (channel, payload) => heard.push(`${channel} ${payload}`),
    onRefresh: () => (refreshes += 1),
    onLost: () => (losses += 1),
  })
  await listener.ready
  await until('the first refresh', () => refreshes === 1)

  await database.transaction((tx) => notify(tx, 'route_changed', 'i1'))
  const undone = database.transaction(async (tx) => {
    await notify(tx, 'route_changed', 'i2')
    throw new Error('undo')
  })
  await expect(undone).rejects.toThrow('undo')
  await database.transaction((tx) => notify(tx, 'route_changed', 'i3'))
  await until('both', () => heard.length === 2)
  expect(heard).toEqual(['route_changed i1', 'route_changed i3'])
  expect(losses).toBe(0)

  await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listen-test'`.execute(database.db)
  await until('the second refresh', () => refreshes === 2)
  expect(losses).toBe(1)
  await database.transaction((tx) => notify(tx, 'route_changed', 'i4'))
  await until('the notification after it', () => heard.length === 3)
})
