import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { parseConfig } from '@sandyard/kit/config/parse-config'
import { RELEASE } from '@sandyard/kit/config/release'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { assertSession } from './assert-session.ts'
import { MIGRATION_SETTINGS, type MigrationBounds } from './database-settings.ts'
import { planMigrations } from './migration-plan.ts'
import { MigrationSession } from './migration-session.ts'
import { readMigrations, type Migration } from './migrations.ts'

export interface MigrateOptions {
  /** Leads to the database itself: a pool in transaction mode is refused. */
  readonly url: string
  readonly log: Logger
  /** Default: those of the settings. */
  readonly bounds?: MigrationBounds
  /** Default: this repository's `migrations/`. */
  readonly directory?: string
  /** The name of the last migration to run, for the schema of an older release. Default: all. */
  readonly until?: string | undefined
  /** Default: this release. */
  readonly release?: string
}

export interface Migrated {
  /** The migrations that this call ran. */
  readonly landed: readonly string[]
  /** The migrations of a newer release that the database has. */
  readonly newer: readonly string[]
}

const CONNECT_TIMEOUT_MS = 10_000
const QUERY_GRACE_MS = 5000
const FIRST_PAUSE_MS = 250
const LAST_PAUSE_MS = 10_000

/**
 * Migrates the database to this release's schema: runs every migration that has not landed in its own transaction, in order. Servers that
 * start together are serialised. There is no way back.
 *
 * Running servers go on meanwhile. A migration that does not get a lock at once gives way, because every query of the table would wait
 * behind it, and is tried again until the bound is reached.
 *
 * @throws AppError `failed_precondition`: those of `planMigrations`, `assertSession` and `MigrationSession`; when a migration cannot run
 *   within the bound
 */
export async function migrate(options: MigrateOptions): Promise<Migrated> {
  const { url, log, directory, release = RELEASE, until, bounds = parseConfig(MIGRATION_SETTINGS, {}) } = options
  const migrations = await readMigrations(directory)
  const endsAt = performance.now() + bounds.migrationTimeoutMs
  const client = new Client({
    connectionString: url,
    application_name: 'sandyard-migrate',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: Math.max(bounds.migrationTimeoutMs, bounds.migrationStatementTimeoutMs) + QUERY_GRACE_MS,
  })
  // A lost connection fails the running query; without a listener the error would end the process.
  client.on('error', (err) => log.warn({ err }, 'migration connection lost'))
  await client.connect()
  try {
    await assertSession(client, url)
    const session = new MigrationSession(client, bounds)
    const wanted = migrations.filter(({ name }) => until === undefined || name <= until)
    const plan = async () => planMigrations({ migrations: wanted, landed: await session.readLanded(), release })
    const { pending, newer } = await plan()
    if (newer.length > 0)
      log.warn({ migrations: newer, release }, 'the database has the schema of a newer release; this server serves with it')
    if (pending.length === 0) return { landed: [], newer }
    await session.lock()
    const landed: string[] = []
    // Another server may have run some of them meanwhile.
    for (const migration of (await plan()).pending) {
      await land(session, migration, { endsAt, log })
      landed.push(migration.name)
      log.info({ migration: migration.name }, 'migration landed')
    }
    return { landed, newer }
  } finally {
    // The lock ends with the connection.
    await client.end()
  }
}

/** Runs a migration again while something is in its way. */
async function land(
  session: MigrationSession,
  migration: Migration,
  { endsAt, log }: { readonly endsAt: number; readonly log: Logger },
): Promise<void> {
  const { name } = migration
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)) {
    const obstacle = await session.run(migration)
    if (obstacle === undefined) return
    if (performance.now() + pauseMs > endsAt) {
      throw new AppError('failed_precondition', `The migration ${name} cannot run, and nothing was changed: ${obstacle}.`)
    }
    log.warn({ migration: name, obstacle, retryMs: pauseMs }, 'a migration gives way and is tried again')
    await delay(pauseMs)
  }
}
