import type { Generated } from 'kysely'
import type { Columns, CreatedAt } from '../column.ts'

export interface TeamMemberTable {
  team_id: string
  user_id: string
  /** The default team of a user; at most one per user. */
  is_default: Generated<boolean>
  created_at: CreatedAt
}

export const teamMemberColumns: Columns<TeamMemberTable> = {
  team_id: 'uuid',
  user_id: 'uuid',
  is_default: 'boolean',
  created_at: 'timestamp with time zone',
}
