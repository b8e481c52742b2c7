import type { Generated } from 'kysely'
import type { Columns, DefaultedTime } from '../column.ts'
import type { JsonObject } from './sandbox.ts'

/** An action on many sandboxes. */
export interface DashboardJobTable {
  job_id: string
  team_id: string
  action: 'kill' | 'pause' | 'resume' | 'extend'
  seconds: number | null
  actor: JsonObject<Record<string, unknown>>
  created_at: DefaultedTime
  finished_at: Date | null
  leased_until: Date | null
}

export const dashboardJobColumns: Columns<DashboardJobTable> = {
  job_id: 'uuid',
  team_id: 'uuid',
  action: 'text',
  seconds: 'integer null',
  actor: 'jsonb',
  created_at: 'timestamp(3) with time zone',
  finished_at: 'timestamp(3) with time zone null',
  leased_until: 'timestamp(3) with time zone null',
}

export interface DashboardJobItemTable {
  job_id: string
  sandbox_id: string
  status: Generated<'waiting' | 'done' | 'failed' | 'skipped'>
  message: string | null
}

export const dashboardJobItemColumns: Columns<DashboardJobItemTable> = {
  job_id: 'uuid',
  sandbox_id: 'text',
  status: 'text',
  message: 'text null',
}
