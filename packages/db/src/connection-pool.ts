import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import { Pool, type PoolClient, type PoolConfig } from 'pg'
import { DatabaseUnavailable, isConnectionLost } from './database-unavailable.ts'

export interface ConnectionPoolOptions extends PoolConfig {
  /**
   * Statements that begin every transaction, such as `set local statement_timeout = 1000`. A pool in front of the database in transaction mode allows no other
   * session settings.
   */
  readonly atBegin?: readonly string[]
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

const BEGINS = /^(?:begin|start transaction)/

/**
 * The connections of `pg`, as Kysely uses them. Every failure to reach the database is a `DatabaseUnavailable`, and a connection that is lost or hangs is not
 * used again: `pg` itself would put one whose statement has timed out back into the pool, still busy.
 */
export class ConnectionPool implements PostgresPool {
  readonly options: object
  readonly #pool: Pool
  readonly #atBegin: readonly string[]

  constructor({ atBegin = [], ...options }: ConnectionPoolOptions) {
    this.options = options
    this.#atBegin = atBegin
    this.#pool = new Pool(options)
    // The pool has no listener on a connection in use: a break fails its queries, and without a listener it would also end the process.
    this.#pool.on('connect', (client) => client.on('error', () => undefined))
  }

  /** `listener` hears of idle connections that are lost. The pool replaces them; without a listener the error would end the process. */
  onIdleError(listener: (err: Error) => void): void {
    this.#pool.on('error', listener)
  }

  /** @throws DatabaseUnavailable, also when no connection becomes free within the connect timeout */
  async connect(): Promise<PostgresPoolClient> {
    try {
      return this.#lease(await this.#pool.connect())
    } catch (err) {
      throw new DatabaseUnavailable(err)
    }
  }

  get counts(): PoolCounts {
    const { totalCount: open, idleCount: idle, waitingCount: queued } = this.#pool
    const limit = this.#pool.options.max
    // Each query is queued for a moment, also when a connection is free or may be opened.
    return { limit, open, idle, waiting: Math.max(0, queued - idle - (limit - open)) }
  }

  end(): Promise<void> {
    return this.#pool.end()
  }

  #lease(client: PoolClient): PostgresPoolClient {
    let lost: DatabaseUnavailable | undefined
    const query = async (sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<never>> => {
      // A rollback would wait behind the statement that hangs.
      if (lost !== undefined) throw lost
      const text = BEGINS.test(sql) ? [sql, ...this.#atBegin].join('; ') : sql
      try {
        return (await client.query(text, [...parameters])) as unknown as PostgresQueryResult<never>
      } catch (err) {
        if (!isConnectionLost(err)) throw err
        lost = new DatabaseUnavailable(err)
        throw lost
      }
    }
    return {
      // Cursors are not used.
      query: query as unknown as PostgresPoolClient['query'],
      release: (discard = false) => client.release(discard || lost !== undefined),
    }
  }
}
