import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import { Pool, type PoolClient, type PoolConfig } from 'pg'
import { FairQueue } from '@sandyard/kit/async/fair-queue'
import { AppError } from '@sandyard/kit/errors/app-error'
import { keptName } from './kept-plan.ts'
import { DatabaseUnavailable, isConnectionLost } from './database-unavailable.ts'

export interface ConnectionPoolOptions extends PoolConfig {
  /** The most connections that are open at once. */
  readonly max: number
  /** How long a query waits for a connection; then also how long one takes to open. */
  readonly connectionTimeoutMillis: number
  /** Whom the query counts for that the calling code makes: a team or a client. Undefined for work of the process itself. */
  readonly ownerOf?: () => string | undefined
  /**
   * Statements that begin every transaction, such as `set local statement_timeout = 1000`. A pool in front of the database in transaction mode allows no other
   * session settings.
   */
  readonly atBegin?: readonly string[]
  /**
   * The connections lead to the database itself. Then the beginning of a transaction travels together with its first statement if that one only reads or
   * locks, so the two wait once, and plans are kept (`keptPlan`).
   */
  readonly isDirect?: boolean
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

/** Of the connections, for one owner at most. */
const OWNER_SHARE = 3 / 4
/** Queries of one owner, and of all. What waits keeps a request in memory. */
const WAITING = { waitingPerOwner: 2048, waitingInAll: 16_384 }

const BEGINS = /^(?:begin|start transaction)/
const READS = /^select\b(?!\s+(?:pg_notify|setval|nextval)\b)/
const NOTHING: PostgresQueryResult<never> = { command: 'BEGIN', rowCount: 0, rows: [] } as unknown as PostgresQueryResult<never>

/**
 * The connections of `pg`, as Kysely uses them. Every failure to reach the database is a `DatabaseUnavailable`, and a connection that is lost or hangs is not
 * used again: `pg` itself would put one whose statement has timed out back into the pool, still busy.
 */
export class ConnectionPool implements PostgresPool {
  readonly options: object
  readonly #pool: Pool
  readonly #shares: FairQueue
  readonly #ownerOf: () => string | undefined
  readonly #timeoutMs: number
  readonly #atBegin: readonly string[]
  readonly #isDirect: boolean

  constructor({ atBegin = [], isDirect = false, ownerOf = () => undefined, ...options }: ConnectionPoolOptions) {
    this.options = options
    this.#ownerOf = ownerOf
    this.#timeoutMs = options.connectionTimeoutMillis
    this.#shares = new FairQueue({ perOwner: Math.ceil(options.max * OWNER_SHARE), inAll: options.max, ...WAITING, onFull: tooManyWait })
    this.#atBegin = atBegin
    this.#isDirect = isDirect
    this.#pool = new Pool({ ...options, pipeline: isDirect })
    // The pool has no listener on a connection in use: a break fails its queries, and without a listener it would also end the process.
    this.#pool.on('connect', (client) => client.on('error', () => undefined))
  }

  /** `listener` hears of idle connections that are lost. The pool replaces them; without a listener the error would end the process. */
  onIdleError(listener: (err: Error) => void): void {
    this.#pool.on('error', listener)
  }

  /**
   * Owners whose queries wait take turns, and one of them has a share of the connections, so that its slow queries do not keep the others out.
   *
   * @throws DatabaseUnavailable, also when too many wait, or no connection becomes free within the connect timeout; AppError `resource_exhausted` when only the
   * owner has too many queries
   */
  async connect(): Promise<PostgresPoolClient> {
    let leave: (() => void) | undefined
    try {
      const owner = this.#ownerOf()
      const onLate = (): Error => (owner !== undefined && this.#shares.isAtCap(owner) ? tooManyOfOwner() : tooLate())
      leave = await this.#shares.enter(owner, { timeoutMs: this.#timeoutMs, onLate })
      return this.#lease(await this.#pool.connect(), leave)
    } catch (err) {
      leave?.()
      throw err instanceof AppError ? err : new DatabaseUnavailable(err)
    }
  }

  get counts(): PoolCounts {
    const { totalCount: open, idleCount: idle } = this.#pool
    return { limit: this.#pool.options.max, open, idle, waiting: this.#shares.waiting }
  }

  end(): Promise<void> {
    return this.#pool.end()
  }

  #lease(client: PoolClient, leave: () => void): PostgresPoolClient {
    let lost: DatabaseUnavailable | undefined
    let begin: string | undefined
    const send = async (text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<never>> => {
      const name = this.#isDirect ? keptName(text) : undefined
      const values = [...parameters]
      return (await client.query(name === undefined ? { text, values } : { name, text, values })) as unknown as PostgresQueryResult<never>
    }
    /** A statement without effects of its own does no harm if the transaction could not begin: it fails then. */
    const sendWithBegin = async (sql: string, parameters: readonly unknown[], beginning: string): Promise<PostgresQueryResult<never>> => {
      if (!READS.test(sql)) {
        await send(beginning, [])
        return await send(sql, parameters)
      }
      const [began, result] = await Promise.allSettled([send(beginning, []), send(sql, parameters)])
      if (began.status === 'rejected') {
        lost = new DatabaseUnavailable(began.reason)
        throw lost
      }
      if (result.status === 'rejected') throw result.reason
      return result.value
    }
    const query = async (sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<never>> => {
      // A rollback would wait behind the statement that hangs.
      if (lost !== undefined) throw lost
      const isBegin = BEGINS.test(sql)
      const text = isBegin ? [sql, ...this.#atBegin].join('; ') : sql
      if (isBegin && this.#isDirect) {
        begin = text
        return NOTHING
      }
      const beginning = begin
      begin = undefined
      try {
        return await (beginning === undefined ? send(text, parameters) : sendWithBegin(text, parameters, beginning))
      } catch (err) {
        if (lost !== undefined || !isConnectionLost(err)) throw err
        lost = new DatabaseUnavailable(err)
        throw lost
      }
    }
    return {
      // Cursors are not used.
      query: query as unknown as PostgresPoolClient['query'],
      release: (discard = false) => {
        client.release(discard || lost !== undefined)
        leave()
      },
    }
  }
}

function tooLate(): Error {
  return new Error('timeout exceeded when waiting for a free connection')
}

function tooManyWait(cap: 'owner' | 'all'): Error {
  return cap === 'owner' ? tooManyOfOwner() : new Error('too many queries wait for a free connection')
}

function tooManyOfOwner(): AppError {
  const headers = { 'retry-after': '1' }
  return new AppError('resource_exhausted', 'Too many queries of this team or client are in progress: try again', { headers })
}
