import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, type QueryResult } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { migrate, type Migrated, type MigrateOptions } from '@sandyard/db/migrate'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { silentLogger, type Logger } from '@sandyard/kit/logging/create-logger'
import { createTestDatabase, type TestDatabase } from '@sandyard/test-kit/postgres'

const log = silentLogger()
let home: TestDatabase
let directory: string

beforeAll(async () => {
  home = await createTestDatabase()
})
afterAll(() => home[Symbol.asyncDispose]())

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'migrations-'))
  await query('drop schema public cascade')
  await query('create schema public')
  return () => rm(directory, { recursive: true })
})

async function query(text: string): Promise<QueryResult> {
  const client = new Client({ connectionString: home.url })
  await client.connect()
  try {
    return await client.query(text)
  } finally {
    await client.end()
  }
}

async function connect(): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: home.url, application_name: 'reader' })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

const put = (name: string, text: string): Promise<void> => writeFile(join(directory, name), text)
const bounds = { migrationLockTimeoutMs: 100, migrationStatementTimeoutMs: 20_000, migrationTimeoutMs: 20_000 }
const migrateAll = (options: Partial<MigrateOptions> = {}): Promise<Migrated> =>
  migrate({ url: home.url, directory, log, bounds, ...options })
const run = async (): Promise<readonly string[]> => (await migrateAll()).landed

it('runs pending migrations once and in order, also with concurrent servers', async () => {
  await put('0001_one.sql', 'create table one (id int)')
  await put('0002_two.sql', 'alter table one add column more text')
  expect((await Promise.all([run(), run(), run()])).flat()).toEqual(['0001_one.sql', '0002_two.sql'])
  await put('0003_three.sql', 'create table three (id int)')
  expect(await run()).toEqual(['0003_three.sql'])
})

it('rolls back a failed migration', async () => {
  await put('0001_one.sql', 'create table one (id int); select no_such_function()')
  await expect(run()).rejects.toThrow('0001_one.sql failed')
  expect((await query("select to_regclass('one') as it")).rows).toEqual([{ it: null }])
})

it.each([
  ['a landed file that was changed', () => put('0001_one.sql', 'select 2'), 'never changed once landed: 0001_one.sql'],
  ['a file before a landed one', () => put('0000_zero.sql', 'select 1'), 'after all landed ones: 0000_zero.sql'],
  ['two files of one number', () => put('0001_other.sql', 'select 1'), 'the number 0001'],
  ['a file with another name', () => put('fix.sql', 'select 1'), 'not named NNNN_words.sql'],
])('refuses %s', async (_what, change, message) => {
  await put('0001_one.sql', 'select 1')
  await run()
  await change()
  await expect(run()).rejects.toThrow(message)
})

it('gives way to the queries of servers while it gets no lock, and lands when the lock is free', async () => {
  await put('0001_one.sql', 'create table one (id int)')
  await run()
  await put('0002_two.sql', 'alter table one add column more text')
  await using reader = await connect()
  await reader.query('begin; select * from one')
  const logged: unknown[] = []
  const warn = (fields: unknown): number => logged.push(fields)
  const migrating = migrateAll({ log: { ...log, warn } as unknown as Logger })
  // The migration has waited behind the reader and given way more than once. Queries between and during its waits are answered.
  await pollUntil({ what: 'two obstacles', timeoutMs: 20_000, everyMs: 10 }, async () => {
    await query('select * from one')
    return logged.length >= 2 ? true : undefined
  })
  expect(logged[0]).toMatchObject({ migration: '0002_two.sql', obstacle: expect.stringContaining('the oldest is of "reader"') })
  await reader.query('commit')
  expect((await migrating).landed).toEqual(['0002_two.sql'])
})

it('fails with a sentence when it gets no lock within the bound, and changes nothing', async () => {
  await put('0001_one.sql', 'create table one (id int); create table two (id int)')
  await run()
  await put('0002_two.sql', 'alter table two add column more text; alter table one add column more text')
  await using reader = await connect()
  await reader.query('begin; select * from one')
  const migrating = migrateAll({ bounds: { ...bounds, migrationTimeoutMs: 500 } })
  await expect(migrating).rejects.toThrow(/^The migration 0002_two.sql cannot run, and nothing was changed: it gets no lock.*"reader"/)
  await expect(query('select more from two')).rejects.toThrow('does not exist')
})

it('ends a statement that takes too long, with a sentence', async () => {
  await put('0001_one.sql', 'create table one (id int); select pg_sleep(60)')
  const migrating = migrateAll({ bounds: { ...bounds, migrationStatementTimeoutMs: 100 } })
  await expect(migrating).rejects.toThrow(/0001_one.sql took longer than 0.1 s: raise SANDYARD_MIGRATION_STATEMENT_TIMEOUT/)
  expect((await query("select to_regclass('one') as it")).rows).toEqual([{ it: null }])
})

it('waits for another server that migrates, until its deadline', async () => {
  await put('0001_one.sql', 'select 1')
  await using other = await connect()
  await other.query('select pg_advisory_lock(5417902)')
  await expect(migrateAll({ bounds: { ...bounds, migrationTimeoutMs: 100 } })).rejects.toThrow(
    'Another server has been migrating the database',
  )
  const migrating = run()
  await other.query('select pg_advisory_unlock(5417902)')
  expect(await migrating).toEqual(['0001_one.sql'])
})

describe('a database of a newer release', () => {
  const asReleaseOne = async (): Promise<Migrated> => {
    await rm(join(directory, '0002_two.sql'))
    return migrateAll({ release: '0.1.0' })
  }
  beforeEach(async () => {
    await put('0001_one.sql', 'select 1')
  })

  it('is served', async () => {
    await put('0002_two.sql', 'select 2')
    await migrateAll({ release: '0.2.0' })
    expect(await asReleaseOne()).toEqual({ landed: [], newer: ['0002_two.sql'] })
  })

  it('is refused when a migration names a newer release as the oldest one', async () => {
    await put('0002_two.sql', '-- Drops what release 0.1.0 reads.\n-- oldest release: 0.2.0\nselect 2')
    await migrateAll({ release: '0.2.0' })
    expect((await query('select name, oldest_release from schema_migration order by name')).rows).toEqual([
      { name: '0001_one.sql', oldest_release: null },
      { name: '0002_two.sql', oldest_release: '0.2.0' },
    ])
    await expect(asReleaseOne()).rejects.toThrow('newer schema (0002_two.sql), which needs release 0.2.0 or later, and this is 0.1.0')
  })

  it('does not come while a server of a release that it breaks still runs', async () => {
    await query('create table server (version text, lease_until timestamptz)')
    await query("insert into server values ('0.1.0', 'infinity')")
    await put('0002_two.sql', '-- oldest release: 0.2.0\nselect 2')
    const migrating = migrateAll({ release: '0.2.0', bounds: { ...bounds, migrationTimeoutMs: 300 } })
    await expect(migrating).rejects.toThrow('a server of release 0.1.0 runs, which this migration does not allow: stop it')
    await query("update server set lease_until = now() - interval '1 s'")
    expect((await migrateAll({ release: '0.2.0' })).landed).toEqual(['0002_two.sql'])
  })
})

it('reads a table of migrations from before the column of the oldest release', async () => {
  await query('create table schema_migration (name text primary key, sha256 text not null, landed_at timestamptz not null default now())')
  await put('0001_one.sql', 'select 1')
  expect(await run()).toEqual(['0001_one.sql'])
  expect(await run()).toEqual([])
})
