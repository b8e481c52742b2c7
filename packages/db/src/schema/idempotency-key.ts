import type { ColumnType } from 'kysely'
import type { Columns, CreatedAt } from '../column.ts'

export interface IdempotencyKeyTable {
  team_id: string
  key: string
  /** Keyed digest of the request: bodies hold secrets, and a plain digest of a short one could be guessed. */
  request_hash: string
  sandbox_id: string
  /** Null while the create is under way. */
  answer: ColumnType<unknown, string | undefined, string>
  created_at: CreatedAt
}

export const idempotencyKeyColumns: Columns<IdempotencyKeyTable> = {
  team_id: 'uuid',
  key: 'text',
  request_hash: 'text',
  sandbox_id: 'text',
  answer: 'jsonb null',
  created_at: 'timestamp with time zone',
}
