import type { Generated } from 'kysely'
import type { Columns } from '../column.ts'

/** Decisions of the egress gateway, and a sample of what the packet rules refused: equal ones within a few seconds are one row. Outlives the sandbox. */
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
  /** `tcp`, `udp`, `icmp` or the number of another one. */
  protocol: Generated<string>
  /** 0 for protocols without ports. */
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
  protocol: 'text',
  port: 'integer',
  connections: 'integer',
}
