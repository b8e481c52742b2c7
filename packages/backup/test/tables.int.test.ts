import { randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrate } from '@sandyard/db/migrate'
import { readMigrations } from '@sandyard/db/migrations'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { createTestDatabase, type TestDatabase } from '@sandyard/test-kit/postgres'
import { checkArchive } from '../src/check-archive.ts'
import { createBackup, type BackupOptions } from '../src/create-backup.ts'
import { restoreFiles } from '../src/restore-files.ts'
import { restoreTables } from '../src/restore-tables.ts'
import { createScratchDatabase } from '../src/scratch-database.ts'

const TEAM = randomUUID()
const HASH = randomBytes(32).toString('hex')
const STRANGE = 'a tab\t, a line\n, a backslash \\N and \\. and "quotes" ü 🦀'

const folder = mkdtempSync(join(tmpdir(), 'sandyard-backup-test-'))
const source = { uploads: join(folder, 'uploads'), credentials: join(folder, 'credentials') }
let database: TestDatabase

async function query<T extends object>(url: string, text: string, values: readonly unknown[] = []): Promise<T[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<T>(text, [...values])).rows
  } finally {
    await client.end()
  }
}

beforeAll(async () => {
  database = await createTestDatabase()
  const { url } = database
  await query(
    url,
    `insert into server_setting (name, value) values ('installation_id', 'abc'), ('engine_id', 'e1'), ('token_seed', 'seed')`,
  )
  await query(url, `insert into team (id, name, slug, email) values ($1, $2, 't', 't@x')`, [TEAM, STRANGE])
  await query(url, `insert into template (template_id, team_id, source) values ('t1', $1, 'template')`, [TEAM])
  await query(
    url,
    `insert into event (team_id, kind, subject, data) select $1, 'k', 's', jsonb_build_object('n', n, 'text', $2::text) from generate_series(1, 20000) as n`,
    [TEAM, STRANGE],
  )
  await query(url, `insert into layer_upload (team_id, hash, size_bytes) values ($1, $2, 10), ($1, $3, 10)`, [TEAM, HASH, '0'.repeat(64)])
  await query(url, `insert into server (server_id, engine_id, version, lease_until) values (7, 'e1', 'x', now() + interval '1 hour')`)
  mkdirSync(join(source.uploads, TEAM), { recursive: true })
  writeFileSync(join(source.uploads, TEAM, `${HASH}.tar`), randomBytes(20 * 1024 ** 2))
  writeFileSync(source.credentials, 'E2B_API_KEY=x\n')
})

afterAll(async () => {
  await database[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

function options(name: string, more: Partial<BackupOptions> = {}): BackupOptions {
  return {
    file: join(folder, name),
    databaseUrl: database.url,
    sandyardVersion: '0.1.0',
    uploadsFolder: source.uploads,
    credentialsFile: source.credentials,
    openEngine: undefined,
    say: () => undefined,
    signal: new AbortController().signal,
    ...more,
  }
}

/** All rows of a table as text, in a fixed order. */
async function rowsOf(url: string, table: string): Promise<unknown[]> {
  return query(url, `select ${table}::text as row from ${table} order by 1`)
}

it('brings every row, upload and credential back', async () => {
  const passphrase = undefined
  const { file } = options('whole.tar')
  const said: string[] = []
  const written = await createBackup(options('unused', { file, say: (line) => said.push(line) }))
  // A row names an upload that is not there.
  const absent = `${TEAM}/${'0'.repeat(64)}.tar`
  expect(written.missingFiles).toEqual([`uploads/${absent}`])
  expect(said.filter((line) => line.includes('does not exist'))).toEqual([expect.stringContaining(join(source.uploads, absent))])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([])
  const manifest = await checkArchive(file)
  expect(manifest).toEqual(written)
  expect(manifest.tables.find(({ name }) => name === 'event')?.rows).toBe(20_000)

  await using target = await createScratchDatabase(database.url)
  await restoreTables({ file, passphrase, manifest, databaseUrl: target.url, replace: false, log: silentLogger() })
  for (const { name } of manifest.tables.filter(({ name }) => name !== 'server_setting')) {
    expect(await rowsOf(target.url, name), name).toEqual(await rowsOf(database.url, name))
  }
  expect(await rowsOf(target.url, 'server')).toEqual([])
  // Inserts continue after the restored rows.
  const [inserted] = await query<{ id: string }>(
    target.url,
    `insert into event (team_id, kind, subject) values ($1, 'k', 's') returning event_id::text as id`,
    [TEAM],
  )
  expect(Number(inserted?.id)).toBe(20_001)

  const restored = join(folder, 'restored')
  const credentials = await restoreFiles({
    file,
    passphrase,
    uploadsFolder: join(restored, 'uploads'),
    engine: undefined,
    volumes: undefined,
    say: () => undefined,
  })
  const upload = join(TEAM, `${HASH}.tar`)
  expect(readFileSync(join(restored, 'uploads', upload)).equals(readFileSync(join(source.uploads, upload)))).toBe(true)
  expect(statSync(join(restored, 'uploads', upload)).mode & 0o777).toBe(0o600)
  expect(credentials).toBe('E2B_API_KEY=x\n')
})

it('migrates the rows of an older schema', async () => {
  await using old = await createScratchDatabase(database.url)
  await migrate({ url: old.url, log: silentLogger(), until: '0011_log_cursor.sql' })
  await query(old.url, `insert into server_setting (name, value) values ('installation_id', 'abc')`)
  await query(old.url, `insert into team (id, name, slug, email) values ($1, 'T', 't', 't@x')`, [TEAM])
  const { file, ...rest } = options('old.tar')
  const manifest = await createBackup({ file, ...rest, databaseUrl: old.url })
  expect(manifest.migrations.at(-1)?.name).toBe('0011_log_cursor.sql')
  await using target = await createScratchDatabase(database.url)
  await restoreTables({ file, passphrase: undefined, manifest, databaseUrl: target.url, replace: false, log: silentLogger() })
  expect(await query(target.url, 'select name from schema_migration order by name')).toEqual(
    (await readMigrations()).map(({ name }) => ({ name })),
  )
  expect(await query(target.url, 'select name from team')).toEqual([{ name: 'T' }])
})

it('refuses a database with rows until it may replace them, one that is served, and one with other tables', async () => {
  const { file, ...rest } = options('refused.tar')
  const manifest = await createBackup({ file, ...rest })
  const request = { file, passphrase: undefined, manifest, log: silentLogger() }
  await using target = await createScratchDatabase(database.url)
  const restore = (replace: boolean) => restoreTables({ ...request, databaseUrl: target.url, replace })
  await restore(false)
  // A restore that was not completed may be repeated.
  await restore(false)
  await query(target.url, `update server_setting set value = 'e2' where name = 'engine_id'`)
  await expect(restore(false)).rejects.toThrow('--replace --yes')
  await query(
    target.url,
    `insert into server (server_id, engine_id, version, lease_until) values (7, 'e2', 'x', now() + interval '1 hour')`,
  )
  await expect(restore(true)).rejects.toThrow('A server runs with this database')
  await query(target.url, 'delete from server')
  await restore(true)
  await query(target.url, `update server_setting set value = 'e2' where name = 'engine_id'`)
  await query(target.url, `insert into schema_migration (name, sha256) values ('9999_newer.sql', 'x')`)
  await expect(restore(false)).rejects.toThrow('newer release')
  await query(target.url, 'create table of_newer (id int)')
  await expect(restore(true)).rejects.toThrow('does not know (of_newer)')
  await query(target.url, 'drop table of_newer')
  await query(target.url, 'alter table team add column of_newer int')
  await restore(true)
  expect(await query(target.url, 'select name from schema_migration where name > $1', ['9'])).toEqual([])

  await using other = await createScratchDatabase(database.url)
  await query(other.url, 'create table customer (id int)')
  await expect(restoreTables({ ...request, databaseUrl: other.url, replace: true })).rejects.toThrow('not of Sandyard (customer)')
})

it('knows every table of the schema, and refuses a database in which others have tables or views beside them', async () => {
  const { file, ...rest } = options('beside.tar')
  const manifest = await createBackup({ file, ...rest })
  await using target = await createScratchDatabase(database.url)
  const restore = (replace: boolean) =>
    restoreTables({ file, passphrase: undefined, manifest, log: silentLogger(), databaseUrl: target.url, replace })
  await restore(false)
  await query(target.url, 'create table customer (id int)')
  await query(target.url, 'insert into customer values (1)')
  // Of a restore that was not completed, and with --replace.
  for (const replace of [false, true]) await expect(restore(replace)).rejects.toThrow('not of Sandyard (customer)')
  expect(await query(target.url, 'select id from customer')).toEqual([{ id: 1 }])
  await query(target.url, 'drop table customer')

  await query(target.url, 'create view team_names as select name from team')
  await expect(restore(true)).rejects.toThrow('team_names')
  expect(await query(target.url, 'select name from team_names')).toEqual([{ name: STRANGE }])
  await query(target.url, 'drop view team_names')

  await query(target.url, 'create sequence invoice')
  await query(target.url, `create function customer_count() returns int language sql as 'select 7'`)
  await restore(true)
  expect(await query(target.url, `select customer_count() as count, nextval('invoice')::int as next`)).toEqual([{ count: 7, next: 1 }])
})

it('leaves the mark of an unfinished restore when the rows cannot be loaded', async () => {
  const { file, ...rest } = options('unloaded.tar')
  const manifest = await createBackup({ file, ...rest })
  await using target = await createScratchDatabase(database.url)
  const request = { file, passphrase: undefined, log: silentLogger(), databaseUrl: target.url, replace: false }
  const wrong = { ...manifest, tables: manifest.tables.map((table) => ({ ...table, rows: table.rows + 1 })) }
  await expect(restoreTables({ ...request, manifest: wrong })).rejects.toThrow('rows instead of')
  expect(await query(target.url, 'select name, value from server_setting')).toEqual([{ name: 'engine_id', value: 'unfinished-restore' }])
  await restoreTables({ ...request, manifest })
  expect(await query(target.url, 'select name from team')).toEqual([{ name: STRANGE }])
})

it('refuses the schema of a newer release and of another history', async () => {
  const { file, ...rest } = options('schema.tar')
  const manifest = await createBackup({ file, ...rest })
  await using target = await createScratchDatabase(database.url)
  const request = { file, passphrase: undefined, databaseUrl: target.url, replace: false, log: silentLogger() }
  const newer = { ...manifest, migrations: [...manifest.migrations, { name: '9999_newer.sql', sha256: 'x' }] }
  await expect(restoreTables({ ...request, manifest: newer })).rejects.toThrow('9999_newer.sql')
  const changed = { ...manifest, migrations: manifest.migrations.map(({ name }) => ({ name, sha256: 'x' })) }
  await expect(restoreTables({ ...request, manifest: changed })).rejects.toThrow('no release of Sandyard')
  expect(await query(target.url, `select relname from pg_class where relnamespace = 'public'::regnamespace`)).toEqual([])
})

it('drops a scratch database when it is disposed', async () => {
  const scratch = await createScratchDatabase(database.url)
  expect(await query(scratch.url, 'select 1 as one')).toEqual([{ one: 1 }])
  await scratch[Symbol.asyncDispose]()
  await expect(query(scratch.url, 'select 1')).rejects.toThrow('does not exist')
})

it('backs a database up that is written to meanwhile, as of one instant', async () => {
  const over = new AbortController()
  let written = 0
  const writing = (async () => {
    while (!over.signal.aborted) {
      written += 1
      await query(
        database.url,
        `with e as (insert into event (team_id, kind, subject) values ($1, 'pair', $2)) insert into template_spawn (template_id) values ('t1')`,
        [TEAM, String(written)],
      )
    }
  })()
  const { file, ...rest } = options('busy.tar')
  const manifest = await createBackup({ file, ...rest }).finally(() => over.abort())
  await writing
  await using target = await createScratchDatabase(database.url)
  await restoreTables({ file, passphrase: undefined, manifest, databaseUrl: target.url, replace: false, log: silentLogger() })
  const [counts] = await query<{ events: string; spawns: string }>(
    target.url,
    `select (select count(*) from event where kind = 'pair')::text as events, (select count(*) from template_spawn)::text as spawns`,
  )
  expect(counts?.events).toBe(counts?.spawns)
})

it('ends a restore that waits for a lock when it is aborted', async () => {
  const { file, ...rest } = options('locked.tar')
  const manifest = await createBackup({ file, ...rest })
  await using target = await createScratchDatabase(database.url)
  const request = { file, passphrase: undefined, manifest, log: silentLogger(), databaseUrl: target.url, replace: true }
  await restoreTables(request)
  const other = new Client({ connectionString: target.url })
  await other.connect()
  await other.query('begin')
  await other.query('lock table team')
  const stop = new AbortController()
  const restoring = restoreTables({ ...request, signal: stop.signal })
  restoring.catch(() => undefined)
  await expect.poll(() => query(target.url, `select from pg_locks where not granted and relation = 'team'::regclass`)).toHaveLength(1)
  stop.abort(new Error('stop'))
  await expect(restoring).rejects.toThrow('stop')
  await other.end()
})

it('leaves no file after a failure and after an abort', async () => {
  const { file, ...rest } = options('aborted.tar')
  await expect(createBackup({ file, ...rest, signal: AbortSignal.abort(new Error('stop')) })).rejects.toThrow('stop')
  const failing = async (): Promise<never> => Promise.reject(new Error('no engine'))
  await expect(createBackup({ file, ...rest, openEngine: failing })).rejects.toThrow('no engine')
  expect(readdirSync(folder).filter((name) => name.startsWith('aborted.tar'))).toEqual([])
})
