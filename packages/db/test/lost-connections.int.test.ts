import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Database } from '@sandyard/db/database'
import { DatabaseUnavailable } from '@sandyard/db/database-unavailable'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { createTestDatabase, type TestDatabase } from '@sandyard/test-kit/postgres'
import { Relay } from '@sandyard/test-kit/relay'

let home: TestDatabase
beforeAll(async () => {
  home = await createTestDatabase()
})
afterAll(() => home[Symbol.asyncDispose]())

/** One connection, whose statements are given up after five seconds. */
const open = (url: string): Database =>
  new Database({ url, applicationName: 'lost-connections', log: silentLogger(), maxConnections: 1, statementTimeoutMs: 100 })
const one = sql<{ one: number }>`select 1 as one`

it('does not use a connection again that hangs', async () => {
  const url = new URL(home.url)
  await using relay = new Relay(new URL(home.url))
  url.port = String(await relay.listen())
  await using database = open(url.href)
  const failed = database.transaction(async (tx) => {
    await one.execute(tx)
    relay.hang()
    await one.execute(tx)
  })
  await expect(failed).rejects.toThrow(DatabaseUnavailable)
  expect((await one.execute(database.db)).rows).toEqual([{ one: 1 }])
  expect(relay.count).toBe(2)
})

it('reports a connection that is cut off during a statement, and goes on with another one', async () => {
  await using database = open(home.url)
  const cut = sql`select pg_terminate_backend(pg_backend_pid())`.execute(database.db)
  await expect(cut).rejects.toThrow(DatabaseUnavailable)
  expect((await one.execute(database.db)).rows).toEqual([{ one: 1 }])
})

it('keeps a connection whose statement has failed', async () => {
  await using database = open(home.url)
  const pid = sql<{ pid: number }>`select pg_backend_pid() as pid`
  const before = await pid.execute(database.db)
  await expect(sql`select 1 / 0`.execute(database.db)).rejects.toThrow('division by zero')
  await expect(sql`select pg_sleep(10)`.execute(database.db)).rejects.toThrow('statement timeout')
  expect((await pid.execute(database.db)).rows).toEqual(before.rows)
})
