import type { Generated } from 'kysely'
import type { Columns, DefaultedTime } from '../column.ts'

/** A login of a browser. */
export interface DashboardSessionTable {
  session_id: Generated<string>
  /** SHA-256 of the cookie's random bits. */
  token_hash: Buffer
  role: 'developer' | 'operator'
  /** The team that an operator has chosen; null for developers, whose team is that of the key. */
  team_id: string | null
  /** The key of a developer's login. */
  api_key_id: string | null
  /** Names the admin token at the time of an operator's login; null when there was none. */
  admin_mark: Buffer | null
  created_at: DefaultedTime
  used_at: DefaultedTime
  expires_at: Date
}

export const dashboardSessionColumns: Columns<DashboardSessionTable> = {
  session_id: 'uuid',
  token_hash: 'bytea',
  role: 'text',
  team_id: 'uuid null',
  api_key_id: 'uuid null',
  admin_mark: 'bytea null',
  created_at: 'timestamp(3) with time zone',
  used_at: 'timestamp(3) with time zone',
  expires_at: 'timestamp(3) with time zone',
}

/** The single-use code of a link. */
export interface DashboardLoginCodeTable {
  code_hash: Buffer
  expires_at: Date
}

export const dashboardLoginCodeColumns: Columns<DashboardLoginCodeTable> = {
  code_hash: 'bytea',
  expires_at: 'timestamp(3) with time zone',
}
