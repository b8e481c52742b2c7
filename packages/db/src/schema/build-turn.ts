import type { Columns } from '../column.ts'

/** When a server last claimed a build of a team. */
export interface BuildTurnTable {
  team_id: string
  taken_at: Date
}

export const buildTurnColumns: Columns<BuildTurnTable> = {
  team_id: 'uuid',
  taken_at: 'timestamp with time zone',
}
