import type { Db } from '@sandyard/db/database'
import { writeEgressDecisions } from '@sandyard/db/rows/write-egress-decisions'
import type { DecisionRow } from './decision-log.ts'

/** Stores decisions, and deletes the oldest rows of their sandboxes over `maxRows` each. */
export function writeDecisions(db: Db, rows: readonly DecisionRow[], maxRows: number): Promise<void> {
  const values = rows.map((row) => ({
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
  return writeEgressDecisions(db, values, maxRows)
}
