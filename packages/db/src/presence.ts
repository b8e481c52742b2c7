import { randomInt } from 'node:crypto'
import { sql, type RawBuilder } from 'kysely'

/** Tells these locks from other users of advisory locks in the same database. */
const CLASS = 5_417_904
const MAX_ID = 2 ** 31 - 1

/** An id for a server of this run: another process never has it at the same time, for all that matters. */
export function newServerId(): number {
  return randomInt(1, MAX_ID)
}

/** Said on a connection, this makes the server present until the connection ends, however it ends. */
export function presenceStatement(serverId: number): string {
  return `select pg_advisory_lock_shared(${CLASS}, ${serverId})`
}

/** SQL condition: the server of the id that the column holds is present. */
export function isPresent(column: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from pg_locks
    where locktype = 'advisory' and classid::bigint = ${CLASS} and objid::bigint = ${column} and granted
      and database = (select oid from pg_database where datname = current_database())
  )`
}
