import type { ColumnType } from 'kysely'
import type { Columns, CreatedAt } from '../column.ts'

export interface IdempotencyKeyTable {
  team_id: string
  key: string
  /** Keyed digest of the request: bodies contain secrets, and a plain digest of a short body could be guessed. */
  request_hash: string
  sandbox_id: string
  /** Null while the create is in flight. */
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
