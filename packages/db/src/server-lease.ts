import { randomInt } from 'node:crypto'
import { sql, type RawBuilder } from 'kysely'

/** How long a server without a heartbeat counts as alive. */
export const SERVER_LEASE_MS = 20_000

const MAX_ID = 2 ** 31 - 1

/** A random id for this run of a server, so that no two servers share one. */
export function newServerId(): number {
  return randomInt(1, MAX_ID)
}

/** The end of a lease that is renewed now, by the clock of the database. */
export function serverLeaseEnd(): RawBuilder<Date> {
  return sql<Date>`clock_timestamp() + make_interval(secs => ${SERVER_LEASE_MS / 1000})`
}

/** SQL condition: the lease of the server has not ended. */
export function isServerAlive(serverId: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`exists (select from server where server.server_id = ${serverId} and server.lease_until > clock_timestamp())`
}
