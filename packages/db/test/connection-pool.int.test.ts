import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Database } from '@sandyard/db/database'
import { DatabaseUnavailable } from '@sandyard/db/database-unavailable'
import { keptPlan } from '@sandyard/db/kept-plan'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { runForAll, runForOwner } from '@sandyard/kit/tracing/scope'
import { createTestDatabase, type TestDatabase } from '@sandyard/test-kit/postgres'

let home: TestDatabase
beforeAll(async () => {
  home = await createTestDatabase()
})
afterAll(() => home[Symbol.asyncDispose]())

/** One connection, directly or as if a pool in transaction mode led to it. */
const open = (isDirect = true): Database =>
  new Database({
    url: home.url,
    directUrl: isDirect ? home.url : `${home.url}?application_name=direct`,
    applicationName: 'connection-pool',
    log: silentLogger(),
    maxConnections: 1,
  })
const one = sql<{ one: number }>`select 1 as one`
const exists = (name: string) => sql<{ found: string | null }>`select to_regclass(${name})::text as found`

describe.each([
  ['directly', true],
  ['through a pool', false],
])('a transaction on a connection that leads to the database %s', (_, isDirect) => {
  it.each([
    ['a statement that only reads', async () => one],
    ['a statement that writes', async () => sql`set local work_mem = '1MB'`],
  ])('that begins with %s is undone when it fails', async (_name, first) => {
    await using database = open(isDirect)
    const failed = database.transaction(async (tx) => {
      await (await first()).execute(tx)
      await sql`create table undone (id int)`.execute(tx)
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    expect((await exists('undone').execute(database.db)).rows).toEqual([{ found: null }])
  })

  it('whose first statement fails has no effect, and its connection goes on', async () => {
    await using database = open(isDirect)
    const failed = database.transaction((tx) => sql`select 1 / 0`.execute(tx))
    await expect(failed).rejects.toThrow('division by zero')
    expect((await one.execute(database.db)).rows).toEqual([{ one: 1 }])
  })

  it('without a statement does nothing', async () => {
    await using database = open(isDirect)
    expect(await database.transaction(async () => 'done')).toBe('done')
    await expect(database.transaction(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    const { rows } = await sql<{ is_open: boolean }>`select now() <> statement_timestamp() as is_open`.execute(database.db)
    expect(rows).toEqual([{ is_open: false }])
  })

  it('commits what its first statement has locked and changed', async () => {
    await using database = open(isDirect)
    const made = `made_${String(isDirect)}`
    await database.transaction(async (tx) => {
      await sql`select pg_advisory_xact_lock(1)`.execute(tx)
      const { rows } = await sql<{
        held: boolean
      }>`select exists (select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as held`.execute(tx)
      expect(rows).toEqual([{ held: true }])
      await sql`create table ${sql.id(made)} (id int)`.execute(tx)
    })
    expect((await exists(made).execute(database.db)).rows).toEqual([{ found: made }])
  })
})

it.each([
  ['keeps the plans of marked statements on connections to the database itself', true, [{ count: 1 }]],
  ['keeps no plans through a pool, whose connections are no sessions', false, [{ count: 0 }]],
])('%s', async (_, isDirect, kept) => {
  await using database = open(isDirect)
  for (const value of [1, 2]) {
    const { rows } = await sql`select ${value}::int as value ${keptPlan}`.execute(database.db)
    expect(rows).toEqual([{ value }])
    await sql`select ${value}::int as other`.execute(database.db)
  }
  const { rows } = await sql`select count(*) from pg_prepared_statements`.execute(database.db)
  expect(rows).toEqual(kept)
})

it.each([
  ['has forgotten its statements', async (database: Database) => void (await sql`deallocate all`.execute(database.db))],
  [
    'has kept a plan for former columns',
    async (database: Database) => void (await sql`alter table planned add more int`.execute(database.db)),
  ],
])('does not use a connection again whose session %s', async (_, change) => {
  await using database = open()
  const kept = sql`select * from planned ${keptPlan}`
  await sql`create table if not exists planned (id int)`.execute(database.db)
  await kept.execute(database.db)
  await change(database)
  await expect(kept.execute(database.db)).rejects.toThrow(DatabaseUnavailable)
  expect((await kept.execute(database.db)).rows).toEqual([])
})

describe('shares of the connections', () => {
  const MANY = 4
  const wide = (): Database =>
    new Database({ url: home.url, applicationName: 'shares', log: silentLogger(), maxConnections: MANY, connectTimeoutMs: 500 })

  /** Uses a connection for each owner while `work` runs. */
  async function whileUsed(database: Database, owners: readonly string[], work: () => Promise<void>): Promise<void> {
    const over = Promise.withResolvers<void>()
    const begun = owners.map((owner) => ({ owner, ...Promise.withResolvers<void>() }))
    const using = begun.map(({ owner, resolve }) =>
      runForOwner(owner, () =>
        database.transaction(async (tx) => {
          await one.execute(tx)
          resolve()
          await over.promise
          return (await one.execute(tx)).rows
        }),
      ),
    )
    await Promise.all(begun.map(({ promise }) => promise))
    await work().finally(over.resolve)
    expect(await Promise.all(using)).toEqual(using.map(() => [{ one: 1 }]))
  }

  it('refuse an owner whose share is in use, and nobody else', async () => {
    await using database = wide()
    await whileUsed(database, ['a', 'a', 'a'], async () => {
      const refused = runForOwner('a', () => one.execute(database.db))
      await expect.poll(() => database.pool.waiting).toBe(1)
      expect((await runForOwner('b', () => one.execute(database.db))).rows).toEqual([{ one: 1 }])
      expect((await runForOwner('a', () => runForAll(() => one.execute(database.db)))).rows).toEqual([{ one: 1 }])
      await expect(refused).rejects.toMatchObject({ kind: 'resource_exhausted' })
    })
    expect((await runForOwner('a', () => one.execute(database.db))).rows).toEqual([{ one: 1 }])
  })

  it('are refused as unavailable to an owner who has none', async () => {
    await using database = wide()
    await whileUsed(database, ['a', 'a', 'a', 'c'], async () => {
      await expect(runForOwner('b', () => one.execute(database.db))).rejects.toBeInstanceOf(DatabaseUnavailable)
    })
  })

  it('do not hold up a transaction that waits for a second connection', async () => {
    await using database = wide()
    await whileUsed(database, ['a', 'a'], async () => {
      const both = (): Promise<unknown> =>
        database.transaction(async (tx) => {
          await one.execute(tx)
          return (await one.execute(database.db)).rows
        })
      expect(await runForOwner('a', both)).toEqual([{ one: 1 }])
    })
  })
})
