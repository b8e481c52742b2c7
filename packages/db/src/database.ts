import { AsyncLocalStorage } from 'node:async_hooks'
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { currentOwner } from '@sandyard/kit/tracing/scope'
import { ConnectionPool, type PoolCounts } from './connection-pool.ts'
import { DatabaseUnavailable } from './database-unavailable.ts'
import type { Tables } from './schema/tables.ts'
import { Turns, type TurnCounts, type TurnRequest } from './turns.ts'
import { VALUE_TYPES } from './value-types.ts'

/** A query target: the database or a transaction. */
export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>

/** The ways to one database. */
export interface DatabaseUrls {
  /** May lead through a pool in transaction mode (PgBouncer): a connection is then a session only within a transaction. */
  readonly url: string
  /** Leads to the database itself, for what needs a session: LISTEN, migrations, heartbeats. */
  readonly directUrl: string
}

export interface DatabaseOptions {
  readonly url: string
  /** Default: `url`. Another one means that `url` leads through a pool. */
  readonly directUrl?: string | undefined
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string
  readonly log: Logger
  readonly maxConnections?: number
  /**
   * Where the timeouts of Postgres are set: at the start of each connection, or in each transaction, which every pool allows. Default:
   * `connection` if `directUrl` is `url`.
   */
  readonly timeoutsIn?: 'connection' | 'transaction'
  /** How long a query waits for a connection, and then for it to open. Default: 10 s. */
  readonly connectTimeoutMs?: number
  /** Statement timeout of Postgres. Default: 15 s. Set in transactions, it holds there; other statements end with their connection 5 s later. */
  readonly statementTimeoutMs?: number
}

/** No healthy query takes this long; a longer one must not hold a connection. */
const STATEMENT_TIMEOUT_MS = 15_000
const QUERY_GRACE_MS = 5000
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000
const CONNECT_TIMEOUT_MS = 10_000
/** Then an unused connection is closed. */
const IDLE_TIMEOUT_MS = 30_000
const DEFAULT_MAX_CONNECTIONS = 10

/** A pool of connections to Postgres, which the teams and clients share. Bigints arrive as numbers; one beyond the safe integers fails its query. */
export class Database implements AsyncDisposable, DatabaseUrls {
  readonly url: string
  readonly directUrl: string
  readonly db: Db
  readonly #pool: ConnectionPool
  readonly #turns = new Turns()
  /** Of the code that runs now. Code that a transaction has begun and not waited for may outlast it. */
  readonly #within = new AsyncLocalStorage<{ isOpen: boolean }>()
  #closed: Promise<void> | undefined

  constructor(options: DatabaseOptions) {
    const { url, directUrl = url, applicationName, log, maxConnections = DEFAULT_MAX_CONNECTIONS } = options
    const { connectTimeoutMs = CONNECT_TIMEOUT_MS } = options
    const { statementTimeoutMs = STATEMENT_TIMEOUT_MS, timeoutsIn = url === directUrl ? 'connection' : 'transaction' } = options
    this.url = url
    this.directUrl = directUrl
    this.#pool = new ConnectionPool({
      connectionString: url,
      application_name: applicationName,
      max: maxConnections,
      keepAlive: true,
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      // Detects a server that does not answer at all.
      query_timeout: statementTimeoutMs + QUERY_GRACE_MS,
      types: VALUE_TYPES,
      isDirect: url === directUrl,
      // A transaction that waits for a second connection keeps its first: it must not wait behind its own owner.
      ownerOf: () => (this.#isWithin ? undefined : currentOwner()),
      ...(timeoutsIn === 'connection' ? connectionTimeouts(statementTimeoutMs) : { atBegin: transactionTimeouts(statementTimeoutMs) }),
    })
    this.#pool.onIdleError((err) => log.warn({ err }, 'idle database connection lost'))
    this.db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: this.#pool }) })
  }

  get pool(): PoolCounts {
    return this.#pool.counts
  }

  /** What waits for its turn. */
  get turns(): TurnCounts {
    return this.#turns.waiting
  }

  /** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    // It waits for its connection like any query, unless it is within another one.
    const transaction = { isOpen: this.#isWithin }
    const begun = (tx: Tx): Promise<T> => {
      transaction.isOpen = true
      return work(tx)
    }
    try {
      return await this.#within.run(transaction, () => this.db.transaction().execute(begun))
    } finally {
      transaction.isOpen = false
    }
  }

  /**
   * Runs `work` in one transaction, which begins when it is its turn: transactions of one owner, which would lock the same row, wait for each other without a
   * connection.
   *
   * @throws Error within a transaction, which would wait with its connection, and for itself if it has the turn
   */
  async transactionInTurn<T>(turn: TurnRequest, work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.inTurn(turn, () => this.transaction(work))
  }

  /** Runs `work`, one statement that locks a row, when it is its turn (`transactionInTurn`). @throws Error within a transaction */
  async inTurn<T>(turn: TurnRequest, work: (db: Db) => Promise<T>): Promise<T> {
    if (this.#isWithin) throw new Error('a turn is taken before a transaction begins')
    return this.#turns.run(turn, () => work(this.db))
  }

  get #isWithin(): boolean {
    return this.#within.getStore()?.isOpen === true
  }

  /** @throws the error of the database or of the connection if it does not answer, for operators */
  async ping(): Promise<void> {
    try {
      await sql`select 1`.execute(this.db)
    } catch (err) {
      throw err instanceof DatabaseUnavailable ? err.cause : err
    }
  }

  /** Waits for running queries, then closes every connection. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.db.destroy()
    return this.#closed
  }
}

function connectionTimeouts(statementTimeoutMs: number) {
  return { statement_timeout: statementTimeoutMs, idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS }
}

/** PgBouncer refuses connections that set more than a few parameters at their start, and a `set` would reach the sessions of others. */
function transactionTimeouts(statementTimeoutMs: number): string[] {
  return [
    `set local statement_timeout = ${statementTimeoutMs}`,
    `set local idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_TIMEOUT_MS}`,
  ]
}
