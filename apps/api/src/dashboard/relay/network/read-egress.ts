import type { Db } from '@sandyard/db/database'
import type { EgressDecision } from '@sandyard/dashboard-contract/network'

export interface EgressRead {
  readonly teamId: string
  readonly sandboxId: string
  readonly limit: number
  readonly verdict?: 'allow' | 'deny' | undefined
  /** The id of the last decision of the page before. */
  readonly before?: number | undefined
}

/** Denials that an entry of `allowOut` turns into an allowance. The others are closed for every sandbox, or are failures. */
const ALLOWABLE = new Set(['deny', 'no_internet'])

/** Decisions on connections of a sandbox, newest first. */
export async function readEgress(db: Db, { teamId, sandboxId, limit, verdict, before }: EgressRead): Promise<EgressDecision[]> {
  const rows = await db
    .selectFrom('sandbox_egress')
    .selectAll()
    .where('sandbox_id', '=', sandboxId)
    .where('team_id', '=', teamId)
    .$if(verdict !== undefined, (all) => all.where('verdict', '=', verdict ?? 'deny'))
    .$if(before !== undefined, (all) => all.where('egress_id', '<', before ?? 0))
    .orderBy('egress_id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    id: String(row.egress_id),
    at: row.decided_at.toISOString(),
    verdict: row.verdict,
    rule: row.rule,
    host: row.name,
    address: row.address,
    protocol: row.protocol,
    port: row.port,
    connections: row.connections,
    toAllow: row.verdict === 'deny' && ALLOWABLE.has(row.rule) ? (row.name ?? row.address) : null,
  }))
}
