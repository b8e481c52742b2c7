import { Client } from 'pg'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { readMigrations, type Migration } from './migrations.ts'

export interface MigrateOptions {
  readonly url: string
  readonly log: Logger
  /** Default: this repository's `migrations/`. */
  readonly directory?: string
  /** The name of the last migration to run, for the schema of an older release. Default: all. */
  readonly until?: string | undefined
}

/** Arbitrary, but the same in every release. */
const LOCK_KEY = 5_417_902

/**
 * Migrates the database to this release's schema: runs every migration that has not landed in its own transaction, in order. Servers that
 * start together are serialised. There is no way back.
 *
 * @returns the names of the migrations that it ran
 * @throws Error when a landed file was changed, or when the database has landed a migration that this release does not contain
 */
export async function migrate({ url, log, directory, until }: MigrateOptions): Promise<string[]> {
  const migrations = await readMigrations(directory)
  const client = new Client({ connectionString: url, application_name: 'sandyard-migrate' })
  // A lost connection fails the running query; without a listener the error would end the process.
  client.on('error', (err) => log.warn({ err }, 'migration connection lost'))
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK_KEY])
    const landed = await readLanded(client)
    const pending = pendingOf(migrations, landed).filter(({ name }) => until === undefined || name <= until)
    for (const migration of pending) {
      await run(client, migration)
      log.info({ migration: migration.name }, 'migration landed')
    }
    return pending.map(({ name }) => name)
  } finally {
    // The lock ends with the connection.
    await client.end()
  }
}

async function readLanded(client: Client): Promise<Map<string, string>> {
  await client.query(`
    create table if not exists schema_migration (
      name      text primary key,
      sha256    text not null,
      landed_at timestamptz not null default now()
    )`)
  const { rows } = await client.query<{ name: string; sha256: string }>('select name, sha256 from schema_migration')
  return new Map(rows.map(({ name, sha256 }) => [name, sha256]))
}

function pendingOf(migrations: readonly Migration[], landed: ReadonlyMap<string, string>): Migration[] {
  const known = new Set(migrations.map(({ name }) => name))
  const unknown = [...landed.keys()].filter((name) => !known.has(name))
  if (unknown.length > 0) throw new Error(`the database is from a newer release: it has landed ${unknown.join(', ')}`)
  const changed = migrations.filter(({ name, sha256 }) => landed.has(name) && landed.get(name) !== sha256)
  if (changed.length > 0) throw new Error(`migrations are never changed once landed: ${changed.map(({ name }) => name).join(', ')}`)
  const pending = migrations.filter(({ name }) => !landed.has(name))
  const last = [...landed.keys()].sort().at(-1)
  const late = pending.filter(({ name }) => last !== undefined && name < last)
  if (late.length > 0) throw new Error(`a new migration comes after all landed ones: ${late.map(({ name }) => name).join(', ')}`)
  return pending
}

async function run(client: Client, { name, sql, sha256 }: Migration): Promise<void> {
  await client.query('begin')
  try {
    await client.query(sql)
    await client.query('insert into schema_migration (name, sha256) values ($1, $2)', [name, sha256])
    await client.query('commit')
  } catch (err) {
    await client.query('rollback').catch(() => undefined)
    throw new Error(`the migration ${name} failed`, { cause: err })
  }
}
