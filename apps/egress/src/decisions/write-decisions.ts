import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import type { DecisionRow } from './decision-log.ts'

/** Rows of one statement. */
const CHUNK = 500

/** Stores decisions, and deletes the oldest rows of their sandboxes over `maxRows` each. */
export async function writeDecisions(db: Db, rows: readonly DecisionRow[], maxRows: number): Promise<void> {
  for (let at = 0; at < rows.length; at += CHUNK) {
    const values = rows.slice(at, at + CHUNK).map((row) => ({
      sandbox_id: row.sandboxId,
      team_id: row.teamId,
      decided_at: row.lastAt,
      verdict: row.verdict,
      rule: row.rule,
      name: row.name ?? null,
      address: row.address,
      port: row.port,
      connections: row.count,
    }))
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
