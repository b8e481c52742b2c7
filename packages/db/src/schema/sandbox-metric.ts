import type { Columns } from '../column.ts'

/** A sample of a running sandbox. Sizes are bytes. */
export interface SandboxMetricTable {
  sandbox_id: string
  team_id: string
  sampled_at: Date
  cpu_count: number
  /** Percent of all its processors, 0 to 100. */
  cpu_used_pct: number
  /** Without `mem_cache`. */
  mem_used: number
  mem_cache: number
  mem_total: number
  disk_used: number
  disk_total: number
}

export const sandboxMetricColumns: Columns<SandboxMetricTable> = {
  sandbox_id: 'text',
  team_id: 'uuid',
  sampled_at: 'timestamp(3) with time zone',
  cpu_count: 'integer',
  cpu_used_pct: 'real',
  mem_used: 'bigint',
  mem_cache: 'bigint',
  mem_total: 'bigint',
  disk_used: 'bigint',
  disk_total: 'bigint',
}
