import { DatabaseError, type Client } from 'pg'
import { isOlderRelease } from '@sandyard/kit/config/release'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { MigrationBounds } from './database-settings.ts'
import type { LandedMigration } from './migration-plan.ts'
import type { Migration } from './migrations.ts'

/** Arbitrary, but the same in every release. */
const LOCK_KEY = 5_417_902

const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK_DETECTED = '40P01'
const QUERY_CANCELED = '57014'

/** What one connection does while it migrates the database. */
export class MigrationSession {
  readonly #client: Client
  readonly #bounds: MigrationBounds

  constructor(client: Client, bounds: MigrationBounds) {
    this.#client = client
    this.#bounds = bounds
  }

  /** The migrations that the database has. The table is older than its column `oldest_release`. */
  async readLanded(): Promise<LandedMigration[]> {
    const { rows: tables } = await this.#client.query<{ exists: boolean }>(`select to_regclass('schema_migration') is not null as exists`)
    if (tables[0]?.exists !== true) return []
    const { rows } = await this.#client.query<{ name: string; sha256: string; oldest_release?: string | null }>(
      'select * from schema_migration',
    )
    return rows.map(({ name, sha256, oldest_release: oldestRelease = null }) => ({ name, sha256, oldestRelease }))
  }

  /**
   * Waits until no other server migrates the database, and keeps others from it until the connection ends.
   *
   * @throws AppError `failed_precondition` when another one takes longer than `migrationTimeoutMs`
   */
  async lock(): Promise<void> {
    const { migrationTimeoutMs } = this.#bounds
    await this.#client.query(`set statement_timeout = ${migrationTimeoutMs}`)
    try {
      await this.#client.query('select pg_advisory_lock($1)', [LOCK_KEY])
    } catch (err) {
      if (codeOf(err) !== QUERY_CANCELED) throw err
      throw new AppError(
        'failed_precondition',
        `Another server has been migrating the database for more than ${migrationTimeoutMs / 1000} s: start this one again when that one is ready.`,
      )
    }
    await this.#client.query(`set statement_timeout = ${this.#bounds.migrationStatementTimeoutMs}`)
    await this.#client.query(`set lock_timeout = ${this.#bounds.migrationLockTimeoutMs}`)
  }

  /**
   * Runs a migration in one transaction.
   *
   * @returns undefined when it has landed, else what was in its way: nothing was changed, and it can be run again
   * @throws AppError `failed_precondition` when a statement took too long; Error for a failed statement
   */
  async run({ name, sql, sha256, oldestRelease }: Migration): Promise<string | undefined> {
    const served = oldestRelease === undefined ? undefined : await this.#findOlderServer(oldestRelease)
    if (served !== undefined) return `a server of release ${served} runs, which this migration does not allow: stop it`
    try {
      await this.#client.query('begin')
      await this.#prepareTable()
      await this.#client.query(sql)
      const row = [name, sha256, oldestRelease ?? null]
      await this.#client.query('insert into schema_migration (name, sha256, oldest_release) values ($1, $2, $3)', row)
      await this.#client.query('commit')
      return undefined
    } catch (err) {
      await this.#client.query('rollback').catch(() => undefined)
      const code = codeOf(err)
      if (code === LOCK_NOT_AVAILABLE || code === DEADLOCK_DETECTED)
        return `it gets no lock, because ${await this.#describeOldestTransaction()}`
      if (code !== QUERY_CANCELED) throw new Error(`the migration ${name} failed`, { cause: err })
      const limit = `${this.#bounds.migrationStatementTimeoutMs / 1000} s`
      const message = `A statement of the migration ${name} took longer than ${limit}: raise SANDYARD_MIGRATION_STATEMENT_TIMEOUT.`
      throw new AppError('failed_precondition', message, { cause: err })
    }
  }

  async #prepareTable(): Promise<void> {
    await this.#client.query(`
      create table if not exists schema_migration (
        name      text primary key,
        sha256    text not null,
        landed_at timestamptz not null default now()
      )`)
    const { rowCount } = await this.#client.query(
      `select from pg_attribute where attrelid = 'schema_migration'::regclass and attname = 'oldest_release' and not attisdropped`,
    )
    if (rowCount === 0) await this.#client.query('alter table schema_migration add column oldest_release text')
  }

  /** The release of a server that runs and is older than `oldestRelease`. */
  async #findOlderServer(oldestRelease: string): Promise<string | undefined> {
    const { rows: tables } = await this.#client.query<{ exists: boolean }>(`select to_regclass('server') is not null as exists`)
    if (tables[0]?.exists !== true) return undefined
    const { rows } = await this.#client.query<{ version: string }>(
      'select distinct version from server where lease_until > clock_timestamp()',
    )
    return rows.find(({ version }) => isOlderRelease(version, oldestRelease))?.version
  }

  async #describeOldestTransaction(): Promise<string> {
    const { rows } = await this.#client.query<{ pid: number; name: string; seconds: number }>(`
      select pid, application_name as name, extract(epoch from clock_timestamp() - xact_start)::int as seconds
      from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
      order by xact_start limit 1`)
    const [oldest] = rows
    if (oldest === undefined) return 'other transactions used its tables'
    return `other transactions use its tables; the oldest is of "${oldest.name}" (pid ${oldest.pid}, ${oldest.seconds} s old)`
  }
}

function codeOf(err: unknown): string | undefined {
  return err instanceof DatabaseError ? err.code : undefined
}
