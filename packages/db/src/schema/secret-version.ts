import type { Columns, DefaultedTime } from '../column.ts'

export interface SecretVersionTable {
  secret_id: string
  version: number
  /** The value, encrypted by a key ring. */
  sealed: Buffer
  /** Of the key that opens it. */
  key_id: string
  created_at: DefaultedTime
}

export const secretVersionColumns: Columns<SecretVersionTable> = {
  secret_id: 'text',
  version: 'bigint',
  sealed: 'bytea',
  key_id: 'text',
  created_at: 'timestamp(3) with time zone',
}
