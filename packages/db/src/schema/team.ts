import type { Generated } from 'kysely'
import type { Columns, CreatedAt } from '../column.ts'

export interface TeamTable {
  id: Generated<string>
  name: string
  /** The namespace of the team's template names; unique over all teams. */
  slug: string
  email: string
  /** Cannot authenticate at all. */
  is_banned: Generated<boolean>
  /** May only read and delete (control-plane.md 1.10). */
  is_blocked: Generated<boolean>
  blocked_reason: string | null
  created_at: CreatedAt
}

export const teamColumns: Columns<TeamTable> = {
  id: 'uuid',
  name: 'text',
  slug: 'text',
  email: 'text',
  is_banned: 'boolean',
  is_blocked: 'boolean',
  blocked_reason: 'text null',
  created_at: 'timestamp with time zone',
}
