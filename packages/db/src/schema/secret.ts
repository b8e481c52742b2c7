import type { Columns, DefaultedTime } from '../column.ts'
import type { JsonTexts } from './sandbox.ts'

export interface SecretTable {
  /** `sec_` and a UUID of version 7 (control-plane.md 2.1). */
  secret_id: string
  team_id: string
  /** In lower case; unique in the team. */
  name: string
  metadata: JsonTexts
  /** The newest version, from 1. */
  current_version: number
  created_at: DefaultedTime
  updated_at: DefaultedTime
}

export const secretColumns: Columns<SecretTable> = {
  secret_id: 'text',
  team_id: 'uuid',
  name: 'text',
  metadata: 'jsonb',
  current_version: 'bigint',
  created_at: 'timestamp(3) with time zone',
  updated_at: 'timestamp(3) with time zone',
}
