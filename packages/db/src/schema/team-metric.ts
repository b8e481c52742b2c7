import type { Columns } from '../column.ts'

export interface TeamMetricTable {
  team_id: string
  sampled_at: Date
  /** Sandboxes that count against the limit of the team. */
  concurrent: number
  /** Sandboxes that started since the sample before. */
  started: number
}

export const teamMetricColumns: Columns<TeamMetricTable> = {
  team_id: 'uuid',
  sampled_at: 'timestamp(3) with time zone',
  concurrent: 'integer',
  started: 'integer',
}
