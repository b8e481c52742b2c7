import type { ColumnType, Generated } from 'kysely'
import type { Columns } from '../column.ts'
import type { JsonObject, JsonTexts } from './sandbox.ts'

export interface HistoryChange {
  /** The kind of the event: `sandbox.starting`, `sandbox.running`, ... */
  readonly kind: string
  readonly at: string
  readonly reason?: string
}

/** An ended sandbox. */
export interface SandboxHistoryTable {
  sandbox_id: string
  incarnation: number
  team_id: string
  template_id: string
  build_id: string
  alias: string | null
  reason: string
  cpu_count: number
  memory_mib: number
  disk_mib: number
  created_at: Date
  /** Null when it never ran. */
  started_at: Date | null
  ended_at: Date
  /** Oldest first. */
  state_changes: ColumnType<readonly HistoryChange[], string, never>
  metadata: JsonTexts
  /** How long it ran, all runs together. */
  run_ms: Generated<number>
  /** Who ended it. */
  end_actor: JsonObject<Record<string, unknown>> | null
  /** As of a sandbox that lives. */
  forgotten_runs: Generated<number>
  forgotten_through: Generated<number>
}

export const sandboxHistoryColumns: Columns<SandboxHistoryTable> = {
  sandbox_id: 'text',
  incarnation: 'integer',
  team_id: 'uuid',
  template_id: 'text',
  build_id: 'uuid',
  alias: 'text null',
  reason: 'text',
  cpu_count: 'integer',
  memory_mib: 'integer',
  disk_mib: 'integer',
  created_at: 'timestamp(3) with time zone',
  started_at: 'timestamp(3) with time zone null',
  ended_at: 'timestamp(3) with time zone',
  state_changes: 'jsonb',
  metadata: 'jsonb',
  run_ms: 'bigint',
  end_actor: 'jsonb null',
  forgotten_runs: 'integer',
  forgotten_through: 'bigint',
}
