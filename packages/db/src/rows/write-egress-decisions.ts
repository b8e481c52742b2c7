import { sql, type Insertable } from 'kysely'
import type { Db } from '../database.ts'
import type { SandboxEgressTable } from '../schema/sandbox-egress.ts'

/** Rows of one statement. */
const CHUNK = 500

/** Stores decisions, and deletes the oldest rows of their sandboxes over `maxRows` each. */
export async function writeEgressDecisions(db: Db, rows: readonly Insertable<SandboxEgressTable>[], maxRows: number): Promise<void> {
  for (let at = 0; at < rows.length; at += CHUNK) {
    const values = rows.slice(at, at + CHUNK)
    await db.insertInto('sandbox_egress').values(values).execute()
    const sandboxIds = [...new Set(values.map((row) => row.sandbox_id))]
    await sql`
      delete from sandbox_egress using (
        select unnest(${sandboxIds}::text[]) as sandbox_id
      ) as written
      where sandbox_egress.sandbox_id = written.sandbox_id and egress_id <= (
        select egress_id from sandbox_egress as newer where newer.sandbox_id = written.sandbox_id
        order by egress_id desc offset ${maxRows} limit 1
      )
    `.execute(db)
  }
}
