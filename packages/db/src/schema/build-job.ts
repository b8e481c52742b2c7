import type { ColumnType, Generated } from 'kysely'
import type { Columns, DefaultedTime } from '../column.ts'

/** A started build that has not ended. */
export interface BuildJobTable {
  build_id: string
  team_id: string
  /** What to build. Read as an object, written as JSON text. */
  plan: ColumnType<unknown, string, string>
  sealed_credentials: Buffer | null
  queued_at: DefaultedTime
  /** The number of claims by servers. */
  attempt: Generated<number>
  /** The number of claims whose server died. */
  abandoned: Generated<number>
  /** The server that runs it; null while it is queued. */
  server_id: number | null
  lease_until: Date | null
  /** The build sandbox of this attempt. */
  sandbox_id: string | null
  /** The reason of a cancellation. */
  cancel_reason: string | null
  started_at: Date | null
}

export const buildJobColumns: Columns<BuildJobTable> = {
  build_id: 'uuid',
  team_id: 'uuid',
  plan: 'jsonb',
  sealed_credentials: 'bytea null',
  queued_at: 'timestamp(3) with time zone',
  attempt: 'integer',
  abandoned: 'integer',
  server_id: 'integer null',
  lease_until: 'timestamp(3) with time zone null',
  sandbox_id: 'text null',
  cancel_reason: 'text null',
  started_at: 'timestamp(3) with time zone null',
}
