import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import { Pool } from 'pg'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { Tables } from './schema/tables.ts'
import { VALUE_TYPES } from './value-types.ts'

/** What queries take: the database itself or a transaction of it. */
export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>

export interface DatabaseOptions {
  readonly url: string
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string
  readonly log: Logger
  readonly maxConnections?: number
}

/** No query of a request or a loop takes this long unless something is wrong; then it must not hold a connection. */
const STATEMENT_TIMEOUT_MS = 15_000
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000
const CONNECT_TIMEOUT_MS = 10_000
const DEFAULT_MAX_CONNECTIONS = 10

/** A pool of connections to Postgres. Bigints arrive as numbers; one beyond the safe integers fails its query. */
export class Database implements AsyncDisposable {
  readonly url: string
  readonly db: Db
  readonly #pool: Pool
  #closed: Promise<void> | undefined

  constructor({ url, applicationName, log, maxConnections = DEFAULT_MAX_CONNECTIONS }: DatabaseOptions) {
    this.url = url
    this.#pool = new Pool({
      connectionString: url,
      application_name: applicationName,
      max: maxConnections,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      types: VALUE_TYPES,
    })
    // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
    this.#pool.on('error', (err) => log.warn({ err }, 'idle database connection lost'))
    this.db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: this.#pool }) })
  }

  /** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.db.transaction().execute(work)
  }

  /** @throws whatever keeps the database from answering */
  async ping(): Promise<void> {
    await this.#pool.query('select 1')
  }

  /** Waits for running queries, then closes every connection. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.db.destroy()
    return this.#closed
  }
}
