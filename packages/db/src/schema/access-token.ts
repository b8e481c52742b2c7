import type { Generated } from 'kysely'
import type { Columns, CreatedAt } from '../column.ts'

export interface AccessTokenTable {
  id: Generated<string>
  user_id: string
  name: string
  /** As in `api_key`. */
  hash: string
  prefix: string
  value_length: number
  masked_value_prefix: string
  masked_value_suffix: string
  created_at: CreatedAt
  /** As in `api_key`. */
  expires_at: Date | null
}

export const accessTokenColumns: Columns<AccessTokenTable> = {
  id: 'uuid',
  user_id: 'uuid',
  name: 'text',
  hash: 'text',
  prefix: 'text',
  value_length: 'integer',
  masked_value_prefix: 'text',
  masked_value_suffix: 'text',
  created_at: 'timestamp with time zone',
  expires_at: 'timestamp with time zone null',
}
