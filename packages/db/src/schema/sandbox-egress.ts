import type { Generated } from 'kysely'
import type { Columns } from '../column.ts'

/** Decisions of the egress gateway on connections of sandboxes: equal ones within a few seconds are one row. Outlives the sandbox. */
export interface SandboxEgressTable {
  egress_id: Generated<number>
  sandbox_id: string
  team_id: string
  /** The last of them. */
  decided_at: Date
  verdict: 'allow' | 'deny'
  /** What decided: `allow_domain`, `deny`, `always_closed`, ... */
  rule: string
  /** The server that the connection named. */
  name: string | null
  /** The IPv4 address that the sandbox dialled. */
  address: string
  port: number
  /** How many. */
  connections: number
}

export const sandboxEgressColumns: Columns<SandboxEgressTable> = {
  egress_id: 'bigint',
  sandbox_id: 'text',
  team_id: 'uuid',
  decided_at: 'timestamp(3) with time zone',
  verdict: 'text',
  rule: 'text',
  name: 'text null',
  address: 'text',
  port: 'integer',
  connections: 'integer',
}
