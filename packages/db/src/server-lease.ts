import { randomInt } from 'node:crypto'
import { sql, type RawBuilder } from 'kysely'
import type { Db } from './database.ts'

/** How long a server without a heartbeat counts as alive. */
export const SERVER_LEASE_MS = 20_000

/**
 * Deadline of one renewal, from the connection to the last answer, and the pause between two renewals. The longest time between two
 * successful renewals with a failed one between them is three deadlines and two pauses, which is less than the lease.
 */
export const LEASE_RENEWAL = { timeoutMs: SERVER_LEASE_MS / 5, pauseMs: (SERVER_LEASE_MS * 3) / 20 } as const

const MAX_ID = 2 ** 31 - 1

/** A random id for this run of a server, so that no two servers share one. */
export function newServerId(): number {
  return randomInt(1, MAX_ID)
}

/** The end of a lease that is renewed now, by the clock of the database. */
export function serverLeaseEnd(): RawBuilder<Date> {
  return sql<Date>`clock_timestamp() + make_interval(secs => ${SERVER_LEASE_MS / 1000})`
}

/** Ends the leases of all servers, for a caller that knows that none of them lives. */
export async function endLeases(db: Db): Promise<void> {
  const now = sql<Date>`clock_timestamp()`
  await db.updateTable('server').set({ lease_until: now }).where('lease_until', '>', now).execute()
}

/** SQL condition: the lease of the server has not ended. */
export function isServerAlive(serverId: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`exists (select from server where server.server_id = ${serverId} and server.lease_until > clock_timestamp())`
}
