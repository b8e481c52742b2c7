import { env, type ConfigOf } from '@sandyard/kit/config/parse-config'
import type { Secret } from '@sandyard/kit/config/secret'
import type { DatabaseUrls } from './database.ts'

/** The way to the database itself, of every program. */
export const DIRECT_URL_SETTING = {
  directUrl: env.secret('DATABASE_DIRECT_URL', {
    default: undefined,
    doc: 'URL of the database itself, when `DATABASE_URL` leads through a pool in transaction mode (PgBouncer): for notifications, migrations, heartbeats and the command `sandyard`.',
  }),
} as const

/** The bounds of migrations, of every program that runs them. */
export const MIGRATION_SETTINGS = {
  migrationLockTimeoutMs: env.duration('SANDYARD_MIGRATION_LOCK_TIMEOUT', {
    default: 1000,
    doc: 'How long a migration waits for the lock of a table, and so delays the queries of running servers, before it gives way and tries again.',
  }),
  migrationStatementTimeoutMs: env.duration('SANDYARD_MIGRATION_STATEMENT_TIMEOUT', {
    default: 300_000,
    doc: 'How long one statement of a migration may take.',
  }),
  migrationTimeoutMs: env.duration('SANDYARD_MIGRATION_TIMEOUT', {
    default: 600_000,
    doc: 'How long a start tries to bring the schema up to date, with the waits for locks and for other servers that do the same.',
  }),
} as const

export type MigrationBounds = ConfigOf<typeof MIGRATION_SETTINGS>

/** The ways to a database from the two settings. */
export function databaseUrls({
  databaseUrl,
  directUrl,
}: {
  readonly databaseUrl: Secret
  readonly directUrl: Secret | undefined
}): DatabaseUrls {
  const url = databaseUrl.reveal()
  return { url, directUrl: directUrl?.reveal() ?? url }
}
