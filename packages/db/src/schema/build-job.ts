import type { ColumnType, Generated } from 'kysely'
import type { Columns, DefaultedTime } from '../column.ts'

/** A build whose start was asked for and that has not ended. */
export interface BuildJobTable {
  build_id: string
  team_id: string
  /** What to build; read as an object, written as its JSON text. */
  plan: ColumnType<unknown, string, string>
  sealed_credentials: Buffer | null
  queued_at: DefaultedTime
  /** Counts the servers that took it up. */
  attempt: Generated<number>
  /** Counts those of them that went away in the middle. */
  abandoned: Generated<number>
  /** The server that works at it; null while it waits for one. */
  server_id: number | null
  lease_until: Date | null
  /** The sandbox in which this attempt builds. */
  sandbox_id: string | null
  /** Why it is to end. */
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
