import { sql } from 'kysely'
import { Database } from '@sandyard/db/database'
import { ENGINE_SETTING } from '@sandyard/db/engine-setting'
import type { ServerCapacity, ServerVitals, WantedStatus } from '@sandyard/db/schema/server'
import { LEASE_RENEWAL, serverLeaseEnd } from '@sandyard/db/server-lease'
import { within } from '@sandyard/kit/async/within'
import { isAppError } from '@sandyard/kit/errors/app-error'
import { runLoop, type Loop } from '@sandyard/kit/lifecycle/run-loop'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { RuntimeHost } from '@sandyard/runtime/types'
import { engineMoved } from './engine-binding.ts'
import type { Placement } from './placement.ts'

/** How long rows of dead servers are kept. */
const KEEP_DEAD = '1 day'

export interface HeartbeatParts {
  readonly databaseUrl: string
  readonly serverId: number
  readonly engineId: string
  readonly version: string
  readonly builds: number
  /** The machine that its sandboxes run on. */
  readonly host: RuntimeHost
  /** A UUID of this run of the server. */
  readonly instanceId: string
  readonly vitals: () => ServerVitals
  /** Follows what its row wants. */
  readonly placement: Placement
  readonly isDraining: () => boolean
  /** Called after each heartbeat that finds the installation moved to another engine. */
  readonly onMoved: () => void
  readonly log: Logger
}

/**
 * The row of this server in the table of servers, and the loop that renews its lease. It has its own connection, so a full pool cannot
 * delay a renewal. Disposing removes the row, so that other servers take over at once.
 */
export class Heartbeat implements AsyncDisposable {
  readonly #parts: HeartbeatParts
  #database: Database
  readonly #beating: Loop

  private constructor(parts: HeartbeatParts, database: Database) {
    this.#parts = parts
    this.#database = database
    this.#beating = runLoop({ name: 'heartbeat', everyMs: LEASE_RENEWAL.pauseMs, log: parts.log }, () => this.#beat())
  }

  /** @throws the error of the first heartbeat */
  static async start(parts: HeartbeatParts): Promise<Heartbeat> {
    const database = open(parts)
    try {
      await beat(database, parts)
    } catch (err) {
      await database[Symbol.asyncDispose]()
      throw err
    }
    return new Heartbeat(parts, database)
  }

  async #beat(): Promise<void> {
    const { timeoutMs } = LEASE_RENEWAL
    try {
      await within({ what: 'the renewal of the lease', timeoutMs }, () => beat(this.#database, this.#parts))
    } catch (err) {
      if (isAppError(err, 'failed_precondition')) this.#parts.onMoved()
      else this.#reconnect()
      throw err
    }
  }

  /** A connection that hangs would fail the next renewals as well. */
  #reconnect(): void {
    const { log } = this.#parts
    const former = this.#database
    this.#database = open(this.#parts)
    former[Symbol.asyncDispose]().catch((err: unknown) => log.warn({ err }, 'the connection of the heartbeat was not closed'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#beating.stop()
    try {
      await this.#database.db.deleteFrom('server').where('server_id', '=', this.#parts.serverId).execute()
    } finally {
      await this.#database[Symbol.asyncDispose]()
    }
  }
}

function open({ databaseUrl: url, log }: HeartbeatParts): Database {
  return new Database({
    url,
    applicationName: 'sandyard-heartbeat',
    log,
    maxConnections: 1,
    // The URL may lead through a pool in session mode.
    timeoutsIn: 'transaction',
    statementTimeoutMs: LEASE_RENEWAL.timeoutMs,
  })
}

/**
 * Renews the lease, and inserts the row again if another server removed it. If the installation was moved to another engine, the lease is
 * not renewed: this server then cannot finish a start any more.
 *
 * @throws AppError `failed_precondition` after such a move
 */
async function beat(database: Database, parts: HeartbeatParts): Promise<void> {
  const { engineId, placement } = parts
  const order = await database.transaction(async (tx) => {
    const { rows } = await sql<{ wanted_status: WantedStatus; status_changed_at: Date | null }>`
      with engine as (select value from server_setting where name = ${ENGINE_SETTING} and value = ${engineId} for share)
      ${upsert(parts)}
      returning wanted_status, status_changed_at
    `.execute(tx)
    const [row] = rows
    if (row === undefined) throw engineMoved()
    return { status: row.wanted_status, since: row.status_changed_at }
  })
  placement.follow(order)
  // Not within the transaction, which holds the lock of a row that another server may want to delete.
  await sql`delete from server where lease_until < clock_timestamp() - ${KEEP_DEAD}::interval`.execute(database.db)
}

/** A row that another server has removed comes back with the order that this server follows. */
function upsert({ serverId, version, builds, host, instanceId, vitals, placement, isDraining }: HeartbeatParts) {
  const capacity: ServerCapacity = { cpuCount: host.processors, memoryMib: Math.floor(host.memoryBytes / 1024 ** 2), builds }
  return sql`
    insert into server (
      server_id, engine_id, version, capacity, is_draining, lease_until, service_instance, wanted_status, status_changed_at, vitals
    )
    select ${serverId}::int, value, ${version}, ${JSON.stringify(capacity)}::jsonb, ${isDraining()}::boolean, ${serverLeaseEnd()},
      ${instanceId}::uuid, ${placement.status}, clock_timestamp(), ${JSON.stringify(vitals())}::jsonb
    from engine
    on conflict (server_id) do update
    set heartbeat_at = clock_timestamp(), lease_until = excluded.lease_until, is_draining = excluded.is_draining, vitals = excluded.vitals,
      status_changed_at = case
        when server.is_draining <> excluded.is_draining then excluded.status_changed_at else server.status_changed_at
      end`
}
