import { sql, type Insertable } from 'kysely'
import type { Db, Tx } from '../database.ts'
import type { SandboxEgressTable } from '../schema/sandbox-egress.ts'

type Row = Insertable<SandboxEgressTable>

/** Rows of one statement. */
const CHUNK = 500

/**
 * Stores all decisions or none, so that a caller may repeat a failed call, and deletes the oldest rows of their sandboxes over `maxRows` each. Rows of a
 * deleted team are left out.
 */
export async function writeEgressDecisions(db: Db, rows: readonly Row[], maxRows: number): Promise<void> {
  if (rows.length === 0) return
  await db.transaction().execute(async (tx) => {
    for (let at = 0; at < rows.length; at += CHUNK) {
      const values = rows.slice(at, at + CHUNK)
      await insert(tx, values)
      await deleteOldest(tx, [...new Set(values.map((row) => row.sandbox_id))], maxRows)
    }
  })
}

/** In their order, because `egress_id` tells which row is newer. */
async function insert(tx: Tx, rows: readonly Row[]): Promise<void> {
  const column = <K extends keyof Row>(name: K) => rows.map((row) => row[name])
  await sql`
    insert into sandbox_egress (sandbox_id, team_id, decided_at, verdict, rule, name, address, protocol, port, connections)
    select sandbox_id, team.id, decided_at, verdict, rule, decision.name, address, protocol, port, connections
    from unnest(
      ${column('sandbox_id')}::text[], ${column('team_id')}::uuid[], ${column('decided_at')}::timestamptz[], ${column('verdict')}::text[],
      ${column('rule')}::text[], ${column('name')}::text[], ${column('address')}::text[],
      ${rows.map(({ protocol = 'tcp' }) => protocol)}::text[], ${column('port')}::integer[], ${column('connections')}::integer[]
    ) with ordinality as decision (sandbox_id, team_id, decided_at, verdict, rule, name, address, protocol, port, connections, place)
    join team on team.id = decision.team_id
    order by place
  `.execute(tx)
}

async function deleteOldest(tx: Tx, sandboxIds: readonly string[], maxRows: number): Promise<void> {
  await sql`
    delete from sandbox_egress using (
      select unnest(${sandboxIds}::text[]) as sandbox_id
    ) as written
    where sandbox_egress.sandbox_id = written.sandbox_id and egress_id <= (
      select egress_id from sandbox_egress as newer where newer.sandbox_id = written.sandbox_id
      order by egress_id desc offset ${maxRows} limit 1
    )
  `.execute(tx)
}
