import { sql } from 'kysely'
import { LAST_BACKUP_SETTING, parseLastBackup, type LastBackup } from '@sandyard/backup/last-backup'
import type { Db } from '@sandyard/db/database'
import { planMigrations, type LandedMigration } from '@sandyard/db/migration-plan'
import { readMigrations, type Migration } from '@sandyard/db/migrations'
import { isAppError } from '@sandyard/kit/errors/app-error'
import { changedTables, purposeOf } from './changed-tables.ts'

interface PendingMigration {
  readonly name: string
  readonly purpose: string | undefined
  /** Servers of older releases do not start afterwards, and must not run meanwhile. */
  readonly oldestRelease: string | undefined
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
  /** Migrations of a newer release that the database has, and with which this one serves. */
  readonly newer: readonly string[]
  /** Why this release does not start with the database. */
  readonly refusal: string | undefined
  readonly lastBackup: LastBackup | undefined
}

/** Reads only; runs no migration. */
export async function readUpgrade(db: Db, release: string): Promise<UpgradePlan> {
  const landed = await readLanded(db)
  const { pending, newer, refusal } = plan(await readMigrations(), landed, release)
  const sizes = await readSizes(db)
  return {
    release,
    serverReleases: landed.some(({ name }) => name === '0007_servers.sql') ? await readServerReleases(db) : [],
    pending: pending.map((migration) => describe(migration, sizes)),
    newer,
    refusal,
    lastBackup: landed.length === 0 ? undefined : await readLastBackup(db),
  }
}

interface Plan extends Pick<UpgradePlan, 'newer' | 'refusal'> {
  readonly pending: readonly Migration[]
}

function plan(migrations: readonly Migration[], landed: readonly LandedMigration[], release: string): Plan {
  try {
    return { ...planMigrations({ migrations, landed, release }), refusal: undefined }
  } catch (err) {
    if (!isAppError(err)) throw err
    return { pending: [], newer: [], refusal: err.message }
  }
}

function describe({ name, sql: text, oldestRelease }: Migration, sizes: ReadonlyMap<string, number>): PendingMigration {
  const tables = changedTables(text).flatMap((table) => {
    const sizeBytes = sizes.get(table)
    return sizeBytes === undefined ? [] : [{ name: table, sizeBytes }]
  })
  return { name, purpose: purposeOf(text), oldestRelease, tables }
}

/** Empty for a database that no server has used. The table is older than its column `oldest_release`. */
async function readLanded(db: Db): Promise<LandedMigration[]> {
  const found = await sql<{ is_there: boolean }>`select to_regclass('schema_migration') is not null as is_there`.execute(db)
  if (found.rows[0]?.is_there !== true) return []
  const { rows } = await sql<{ name: string; sha256: string; oldest_release?: string | null }>`
    select * from schema_migration order by name
  `.execute(db)
  return rows.map(({ name, sha256, oldest_release: oldestRelease = null }) => ({ name, sha256, oldestRelease }))
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
