import { sql } from 'kysely'
import { LAST_BACKUP_SETTING, parseLastBackup, type LastBackup } from '@sandyard/backup/last-backup'
import type { Db } from '@sandyard/db/database'
import { readMigrations } from '@sandyard/db/migrations'
import { changedTables, purposeOf } from './changed-tables.ts'

interface PendingMigration {
  readonly name: string
  readonly purpose: string | undefined
  /** The existing tables that it changes, and locks meanwhile. */
  readonly tables: readonly { readonly name: string; readonly sizeBytes: number }[]
}

/** What a start of this release would do with a database. */
export interface UpgradePlan {
  /** Of this program. */
  readonly release: string
  /** Of the servers that run now. */
  readonly serverReleases: readonly string[]
  readonly pending: readonly PendingMigration[]
  /** Migrations of the database that this release does not have: it is from a newer one. */
  readonly unknown: readonly string[]
  /** Migrations that have another text in this release. */
  readonly changed: readonly string[]
  readonly lastBackup: LastBackup | undefined
}

/** Reads only; runs no migration. */
export async function readUpgrade(db: Db, release: string): Promise<UpgradePlan> {
  const landed = await readLanded(db)
  const own = await readMigrations()
  const known = new Set(own.map(({ name }) => name))
  const sizes = await readSizes(db)
  const pending = own
    .filter(({ name }) => !landed.has(name))
    .map(({ name, sql: text }) => ({
      name,
      purpose: purposeOf(text),
      tables: changedTables(text).flatMap((table) => {
        const sizeBytes = sizes.get(table)
        return sizeBytes === undefined ? [] : [{ name: table, sizeBytes }]
      }),
    }))
  return {
    release,
    serverReleases: landed.has('0007_servers.sql') ? await readServerReleases(db) : [],
    pending,
    unknown: [...landed.keys()].filter((name) => !known.has(name)),
    changed: own.filter(({ name, sha256 }) => landed.has(name) && landed.get(name) !== sha256).map(({ name }) => name),
    lastBackup: landed.size === 0 ? undefined : await readLastBackup(db),
  }
}

/** Empty for a database that no server has used. */
async function readLanded(db: Db): Promise<Map<string, string>> {
  const found = await sql<{ is_there: boolean }>`select to_regclass('schema_migration') is not null as is_there`.execute(db)
  if (found.rows[0]?.is_there !== true) return new Map()
  const { rows } = await sql<{ name: string; sha256: string }>`select name, sha256 from schema_migration order by name`.execute(db)
  return new Map(rows.map(({ name, sha256 }) => [name, sha256]))
}

async function readSizes(db: Db): Promise<Map<string, number>> {
  const { rows } = await sql<{ name: string; size: number }>`
    select relname::text as name, pg_total_relation_size(oid) as size from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace
  `.execute(db)
  return new Map(rows.map(({ name, size }) => [name, size]))
}

async function readServerReleases(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('server')
    .select('version')
    .distinct()
    .where('lease_until', '>', sql<Date>`clock_timestamp()`)
    .execute()
  return rows.map(({ version }) => version).sort()
}

async function readLastBackup(db: Db): Promise<LastBackup | undefined> {
  const row = await db.selectFrom('server_setting').select('value').where('name', '=', LAST_BACKUP_SETTING).executeTakeFirst()
  return parseLastBackup(row?.value)
}
