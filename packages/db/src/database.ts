import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import { Pool } from 'pg'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { Tables } from './schema/tables.ts'
import { VALUE_TYPES } from './value-types.ts'

/** A query target: the database or a transaction. */
export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>

export interface DatabaseOptions {
  readonly url: string
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string
  readonly log: Logger
  readonly maxConnections?: number
  /** Statement timeout of Postgres. Default: 15 s. */
  readonly statementTimeoutMs?: number
}

/** The connections of a pool. */
export interface PoolCounts {
  /** The most that it opens. */
  readonly limit: number
  readonly open: number
  readonly idle: number
  /** Queries and transactions that wait for one. */
  readonly waiting: number
}

/** No healthy query takes this long; a longer one must not hold a connection. */
const STATEMENT_TIMEOUT_MS = 15_000
const QUERY_GRACE_MS = 5000
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000
const CONNECT_TIMEOUT_MS = 10_000
const DEFAULT_MAX_CONNECTIONS = 10

/** A pool of connections to Postgres. Bigints arrive as numbers; one beyond the safe integers fails its query. */
export class Database implements AsyncDisposable {
  readonly url: string
  readonly db: Db
  readonly #pool: Pool
  readonly #maxConnections: number
  #closed: Promise<void> | undefined

  constructor(options: DatabaseOptions) {
    const { url, applicationName, log, maxConnections = DEFAULT_MAX_CONNECTIONS, statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options
    this.url = url
    this.#maxConnections = maxConnections
    this.#pool = new Pool({
      connectionString: url,
      application_name: applicationName,
      max: maxConnections,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: statementTimeoutMs,
      // Detects a server that does not answer at all.
      query_timeout: statementTimeoutMs + QUERY_GRACE_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      types: VALUE_TYPES,
    })
    // The pool replaces a broken idle connection; without a listener the error would end the process.
    this.#pool.on('error', (err) => log.warn({ err }, 'idle database connection lost'))
    // The pool has no listener on a connection in use: a break fails its queries, and without a listener it would also end the process.
    this.#pool.on('connect', (client) => client.on('error', () => undefined))
    this.db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: this.#pool }) })
  }

  get pool(): PoolCounts {
    const { totalCount: open, idleCount: idle, waitingCount: queued } = this.#pool
    const limit = this.#maxConnections
    // Each query is queued for a moment, also when a connection is free or may be opened.
    return { limit, open, idle, waiting: Math.max(0, queued - idle - (limit - open)) }
  }

  /** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.db.transaction().execute(work)
  }

  /** @throws the error of the database if it does not answer */
  async ping(): Promise<void> {
    await this.#pool.query('select 1')
  }

  /** Waits for running queries, then closes every connection. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.db.destroy()
    return this.#closed
  }
}
