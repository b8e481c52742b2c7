import type { Generated } from 'kysely'
import type { Columns } from '../column.ts'
import type { LogLevel } from './build-log.ts'
import type { JsonObject } from './sandbox.ts'

/** Append-only; outlives the sandbox. */
export interface SandboxLogTable {
  log_id: Generated<number>
  sandbox_id: string
  team_id: string
  logged_at: Date
  level: LogLevel
  message: string
  /** The other members of the raw line. */
  fields: JsonObject<Record<string, unknown>>
  /** What message and fields take as text; null in a line of a release that does not know it. */
  bytes: number | null
}

export const sandboxLogColumns: Columns<SandboxLogTable> = {
  log_id: 'bigint',
  sandbox_id: 'text',
  team_id: 'uuid',
  logged_at: 'timestamp(3) with time zone',
  level: 'text',
  message: 'text',
  fields: 'jsonb',
  bytes: 'integer null',
}
