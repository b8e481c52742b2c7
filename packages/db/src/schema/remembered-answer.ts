import type { Columns, CreatedAt } from '../column.ts'

export interface RememberedAnswerTable {
  /** The team or user that asked. */
  owner_id: string
  operation: string
  /** Keyed digest of the idempotency key. */
  key_digest: string
  /** Keyed digest of the request. */
  request_hash: string
  /** Null only within the transaction of the request. */
  sealed_answer: Buffer | null
  created_at: CreatedAt
}

export const rememberedAnswerColumns: Columns<RememberedAnswerTable> = {
  owner_id: 'uuid',
  operation: 'text',
  key_digest: 'text',
  request_hash: 'text',
  sealed_answer: 'bytea null',
  created_at: 'timestamp with time zone',
}
