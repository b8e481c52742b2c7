import { sql } from 'kysely'
import type { Db } from './database.ts'
import { inBatches } from './in-batches.ts'
import type { Tables } from './schema/tables.ts'
import { secondsAgo } from './statement-time.ts'

const BATCHES = { size: 1000, most: 100 }

export interface Old<Table extends keyof Tables> {
  readonly table: Table
  /** The indexed column with the age of a row. */
  readonly time: keyof Tables[Table] & string
  readonly ageMs: number
  /** Ends the turn after the batch in flight. */
  readonly signal?: AbortSignal
}

/**
 * Deletes older rows, oldest first and in batches. A later turn deletes the rest. Several servers may run it at once.
 *
 * @returns the number of deleted rows
 */
export async function deleteOlder<Table extends keyof Tables>(db: Db, { table, time, ageMs, signal }: Old<Table>): Promise<number> {
  return inBatches({ ...BATCHES, signal }, async (size) => {
    const { numAffectedRows } = await sql`
      delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)}
        where ${sql.ref(time)} < ${secondsAgo(ageMs / 1000)}
        order by ${sql.ref(time)} limit ${size} for update skip locked
      ))
    `.execute(db)
    return Number(numAffectedRows ?? 0n)
  })
}
