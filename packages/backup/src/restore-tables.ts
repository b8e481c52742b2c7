import type { Client } from 'pg'
import { ENGINE_SETTING, UNFINISHED_RESTORE } from '@sandyard/db/engine-setting'
import { migrate } from '@sandyard/db/migrate'
import { readMigrations } from '@sandyard/db/migrations'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { Manifest } from './manifest.ts'
import { readSetting } from './rows-of-engine.ts'
import { isBackedUp, listTables, MIGRATION_TABLE, readMigrationsOf, tableExists } from './tables/catalog.ts'
import { quote, withConnection } from './tables/connect.ts'
import { dropOwn } from './tables/drop-own.ts'
import { loadTables, type TablesToLoad } from './tables/load-tables.ts'
import { readOwnObjects, type OwnObjects } from './tables/own-objects.ts'

export interface TablesToRestore extends TablesToLoad {
  readonly databaseUrl: string
  /** Removes what the database has of Sandyard. */
  readonly replace: boolean
  readonly log: Logger
}

/**
 * Checks that this release can read the schema of a backup.
 *
 * @throws AppError `failed_precondition` for the schema of a newer release or of another history
 */
export async function checkSchema({ migrations, sandyardVersion }: Pick<Manifest, 'migrations' | 'sandyardVersion'>): Promise<void> {
  const own = await readMigrations()
  const newer = migrations.filter(({ name }) => !own.some((migration) => migration.name === name))
  if (newer.length > 0) {
    const names = newer.map(({ name }) => name).join(', ')
    throw new AppError(
      'failed_precondition',
      `The backup is of a newer release (${sandyardVersion}), with a schema that this one does not know (${names}): restore it with that release.`,
    )
  }
  const isPrefix = migrations.length > 0 && migrations.every(({ name, sha256 }, at) => own[at]?.name === name && own[at]?.sha256 === sha256)
  if (!isPrefix) throw new AppError('failed_precondition', 'The backup has a schema that no release of Sandyard has had.')
}

/**
 * Checks that the database can take a backup: it has no tables, only empty ones of Sandyard or a restore that was not completed, or it may be
 * replaced.
 *
 * @throws AppError `failed_precondition`
 */
export async function checkTarget({ databaseUrl, replace }: Pick<TablesToRestore, 'databaseUrl' | 'replace'>): Promise<void> {
  const own = await readOwnObjects()
  await withConnection(databaseUrl, undefined, (client) => assertReplaceable(client, { replace, own }))
}

/**
 * Loads the rows of a checked backup into the schema of the backup, then runs the migrations that came later. If it dies before the rows are
 * committed, the tables are empty, and the engine's setting says that the restore is not complete: it can be repeated.
 *
 * @throws AppError as `checkSchema` and `checkTarget`; `invalid_argument` for rows that the schema does not accept
 */
export async function restoreTables(request: TablesToRestore): Promise<void> {
  const { databaseUrl: url, manifest, replace, log, signal } = request
  await checkSchema(manifest)
  const own = await readOwnObjects()
  await withConnection(url, signal, async (client) => {
    await assertReplaceable(client, { replace, own })
    await dropOwn(client, own)
    await migrate({ url, log, until: manifest.migrations.at(-1)?.name })
    await markUnfinished(client)
    await loadTables(client, request)
  })
  await migrate({ url, log })
}

interface Replacing extends Pick<TablesToRestore, 'replace'> {
  readonly own: OwnObjects
}

async function assertReplaceable(client: Client, { replace, own }: Replacing): Promise<void> {
  const tables = await listTables(client)
  if (tables.length === 0) return
  const foreign = tables.filter(({ name }) => !own.tables.has(name)).map(({ name }) => name)
  if (!tables.some(({ name }) => name === MIGRATION_TABLE))
    throw new AppError('failed_precondition', `The database has tables that are not of Sandyard (${tables[0]?.name}): name another one.`)
  const known = new Set((await readMigrations()).map(({ name }) => name))
  const isNewer = (await readMigrationsOf(client)).some(({ name }) => !known.has(name))
  if (isNewer && !replace) {
    throw new AppError(
      'failed_precondition',
      'The database belongs to a newer release of Sandyard: use that release, another database, or replace its contents with --replace --yes.',
    )
  }
  if (foreign.length > 0) {
    const names = foreign.join(', ')
    throw new AppError(
      'failed_precondition',
      isNewer
        ? `The database has tables that this release does not know (${names}): drop those that a newer release of Sandyard made, or name another database.`
        : `The database has tables that are not of Sandyard (${names}): name another one.`,
    )
  }
  if (await isServed(client))
    throw new AppError('failed_precondition', 'A server runs with this database: stop all servers, wait half a minute, and repeat it.')
  if (replace || (await isUnfinished(client))) return
  for (const table of tables.filter(isBackedUp)) {
    const { rows } = await client.query<{ is_there: boolean }>(`select exists (select from ${quote(table.name)}) as is_there`)
    if (rows[0]?.is_there === true) {
      throw new AppError(
        'failed_precondition',
        'The database is not empty: name an empty one, or replace its contents with --replace --yes.',
      )
    }
  }
}

/**
 * From here until `adoptRestored` no server starts with the database.
 *
 * @throws AppError `failed_precondition` when a server has started since the tables were made
 */
async function markUnfinished(client: Client): Promise<void> {
  const { rowCount } = await client.query('insert into server_setting (name, value) values ($1, $2) on conflict (name) do nothing', [
    ENGINE_SETTING,
    UNFINISHED_RESTORE,
  ])
  if (rowCount === 0)
    throw new AppError(
      'failed_precondition',
      'A server has started with this database meanwhile: stop it, wait half a minute, and repeat it.',
    )
}

async function isUnfinished(client: Client): Promise<boolean> {
  return (await tableExists(client, 'server_setting')) && (await readSetting(client, ENGINE_SETTING)) === UNFINISHED_RESTORE
}

async function isServed(client: Client): Promise<boolean> {
  if (!(await tableExists(client, 'server'))) return false
  const { rows } = await client.query<{ is_served: boolean }>(
    'select exists (select from server where lease_until > clock_timestamp()) as is_served',
  )
  return rows[0]?.is_served === true
}
