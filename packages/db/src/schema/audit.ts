import type { ColumnType, Generated } from 'kysely'
import type { Columns } from '../column.ts'

/** Who asked for a change: a row for each call of an operation that changes something, refused ones too. */
export interface AuditTable {
  audit_id: Generated<number>
  created_at: Date
  /** The team that it was for; null where the request names none. Not a reference: the record outlives the team. */
  team_id: string | null
  actor: 'key' | 'user' | 'admin' | 'link'
  /** The id of the API key or of the access token. */
  credential_id: string | null
  user_id: string | null
  client_address: string
  request_id: string
  /** The id of the operation in the interface. */
  operation: string
  /** The ids and names of what it was about. */
  targets: ColumnType<Record<string, unknown>, string, never>
  /** The status of the answer. */
  status: number
}

export const auditColumns: Columns<AuditTable> = {
  audit_id: 'bigint',
  created_at: 'timestamp(3) with time zone',
  team_id: 'uuid null',
  actor: 'text',
  credential_id: 'uuid null',
  user_id: 'uuid null',
  client_address: 'text',
  request_id: 'text',
  operation: 'text',
  targets: 'jsonb',
  status: 'integer',
}
