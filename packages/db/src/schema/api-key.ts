import type { Generated } from 'kysely'
import type { Columns, CreatedAt } from '../column.ts'

export interface ApiKeyTable {
  id: Generated<string>
  team_id: string
  name: string
  /** `$sha256$` and the unpadded base64 of the digest of the decoded value (control-plane.md 1.7). */
  hash: string
  prefix: string
  value_length: number
  masked_value_prefix: string
  masked_value_suffix: string
  created_by: string | null
  created_at: CreatedAt
  last_used_at: Date | null
  /** From then on the key is refused; null: never. */
  expires_at: Date | null
  /** All that the key may do; null: everything. */
  scope: 'connect' | 'read' | 'build' | null
}

export const apiKeyColumns: Columns<ApiKeyTable> = {
  id: 'uuid',
  team_id: 'uuid',
  name: 'text',
  hash: 'text',
  prefix: 'text',
  value_length: 'integer',
  masked_value_prefix: 'text',
  masked_value_suffix: 'text',
  created_by: 'uuid null',
  created_at: 'timestamp with time zone',
  last_used_at: 'timestamp with time zone null',
  expires_at: 'timestamp with time zone null',
  scope: 'text null',
}
