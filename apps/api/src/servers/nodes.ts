import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db, Database } from '@sandyard/db/database'
import { CHANNELS, notify } from '@sandyard/db/notify'
import type { ServerCapacity, ServerVitals, WantedStatus } from '@sandyard/db/schema/server'
import { AppError } from '@sandyard/kit/errors/app-error'
import { RUNNING_STATES } from '../sandboxes/running-states.ts'
import type { Order } from './placement.ts'

/** More than an installation can have on one engine. */
const MOST_NODES = 10_000
const MAX_SERVER_ID = 2 ** 31 - 1

/** A server as a node of the interface, with what runs on it. */
export interface NodeRow {
  readonly server_id: number
  readonly version: string
  readonly service_instance: string | null
  readonly capacity: Partial<ServerCapacity>
  readonly vitals: ServerVitals
  readonly wanted_status: WantedStatus
  readonly is_draining: boolean
  readonly is_alive: boolean
  /** When the status changed that the row has: to `unhealthy` at the end of its lease. */
  readonly changed_at: Date
  /** Its running sandboxes, and the sums of their limits. */
  readonly sandboxes: number
  readonly cpu_count: number
  readonly memory_mib: number
  /** Starts and resumes under way. */
  readonly starting: number
}

/**
 * The servers of the last day that did not stop in order, sorted by their ids as texts. A sandbox counts at the server that started it last; when that
 * is gone, at the oldest one that lives.
 *
 * @param only - the id of one server
 */
export async function listNodes(db: Db, only?: number): Promise<NodeRow[]> {
  const now = sql`clock_timestamp()`
  const { rows } = await sql<NodeRow>`
    with alive as (
      select server_id, started_at from server where lease_until > ${now}
    ), home as (
      select coalesce(alive.server_id, (select server_id from alive order by started_at, server_id limit 1)) as server_id,
        count(*) as sandboxes, sum(build.cpu_count) as cpu_count, sum(build.memory_mib) as memory_mib
      from sandbox join build on build.build_id = sandbox.build_id left join alive on alive.server_id = sandbox.home_server_id
      where sandbox.state in (${sql.join(RUNNING_STATES)})
      group by 1
    ), starting as (
      select server_id, count(*) as starting from sandbox where state in ('starting', 'resuming') group by server_id
    )
    select server.server_id, version, service_instance, capacity, vitals, wanted_status, is_draining, lease_until > ${now} as is_alive,
      case when lease_until > ${now} then coalesce(status_changed_at, started_at) else lease_until end as changed_at,
      coalesce(home.sandboxes, 0) as sandboxes, coalesce(home.cpu_count, 0) as cpu_count, coalesce(home.memory_mib, 0) as memory_mib,
      coalesce(starting.starting, 0) as starting
    from server left join home on home.server_id = server.server_id left join starting on starting.server_id = server.server_id
    where ${only ?? null}::int is null or server.server_id = ${only ?? null}::int
    order by server.server_id::text collate "C" limit ${MOST_NODES}
  `.execute(db)
  return rows
}

/** The server id that a node's id names; undefined for another text. */
export function parseNodeId(nodeId: string): number | undefined {
  const id = /^[1-9]\d{0,9}$/.test(nodeId) ? Number(nodeId) : MAX_SERVER_ID + 1
  return id > MAX_SERVER_ID ? undefined : id
}

/** Statuses that a server has by itself. */
type FoundStatus = 'connecting' | 'unhealthy'

/**
 * Tells a server to take sandboxes or not to. It hears of the order by a notification and reads its row.
 *
 * @returns the order; undefined when there is no such server
 * @throws AppError `conflict` for a server that is gone, shuts down or has an earlier release, and for a status that cannot be ordered
 */
export async function orderNode(database: Database, serverId: number, status: WantedStatus | FoundStatus): Promise<Order | undefined> {
  return database.transaction(async (tx) => {
    const row = await tx
      .selectFrom('server')
      .select(['is_draining', 'service_instance', 'wanted_status', 'status_changed_at'])
      .select(sql<boolean>`lease_until > clock_timestamp()`.as('is_alive'))
      .where('server_id', '=', serverId)
      .forUpdate()
      .executeTakeFirst()
    if (row === undefined) return undefined
    if (!row.is_alive) throw new AppError('conflict', `The node ${serverId} is unhealthy: it has not renewed its lease`)
    if (row.is_draining) throw new AppError('conflict', `The node ${serverId} shuts down`)
    if (row.service_instance === null) throw new AppError('conflict', `The node ${serverId} runs an earlier release, which takes no orders`)
    if (status === 'connecting' || status === 'unhealthy') {
      throw new AppError('conflict', `A node cannot be made ${status}: use ready, draining or standby`)
    }
    if (row.wanted_status === status) return { status, since: row.status_changed_at }
    const { since } = await tx
      .updateTable('server')
      .set({ wanted_status: status, status_changed_at: sql<Date>`clock_timestamp()` })
      .where('server_id', '=', serverId)
      .returning('status_changed_at as since')
      .executeTakeFirstOrThrow()
    await notify(tx, CHANNELS.nodeChanged, String(serverId))
    return { status, since }
  })
}

/** The servers of an engine are one cluster: a UUID of version 8 (RFC 9562, 5.8) that is made of the id of the engine. */
export function clusterIdOf(engineId: string): string {
  const digest = createHash('sha256').update(`cluster ${engineId}`).digest('hex')
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 0x3) | 0x8).toString(16)
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `${variant}${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-')
}
