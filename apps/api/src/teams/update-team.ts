import type { Updateable } from 'kysely'
import type { Db } from '@sandyard/db/database'
import type { TeamTable } from '@sandyard/db/schema/team'
import { checkStorable } from '../builds/start/check-storable.ts'
import { LIMIT_COLUMN, LIMIT_NAMES, type LimitName } from './team-limits.ts'
import { findTeamRow, TEAM_COLUMNS, type TeamRow } from './team-rows.ts'

/** What is absent stays. */
export interface TeamChange {
  readonly name?: string
  readonly email?: string
  readonly isBanned?: boolean
  readonly isBlocked?: boolean
  /** Null: none. */
  readonly blockedReason?: string | null
  /** Null: that of the settings. */
  readonly limits?: { readonly [Name in LimitName]?: number | null }
}

/**
 * Changes a team; servers hear of it at once by triggers. Its slug stays, because the names of its templates have it.
 *
 * @returns undefined when there is no such team
 * @throws AppError `invalid_argument` for texts that cannot be stored
 */
export async function updateTeam(db: Db, teamId: string, change: TeamChange): Promise<TeamRow | undefined> {
  const { name, email, blockedReason } = change
  checkStorable({ name, email, blockedReason })
  const set = columnsOf(change)
  if (Object.keys(set).length === 0) return findTeamRow(db, teamId)
  return db.updateTable('team').set(set).where('team.id', '=', teamId).returning(TEAM_COLUMNS).executeTakeFirst()
}

function columnsOf({ name, email, isBanned, isBlocked, blockedReason, limits = {} }: TeamChange): Updateable<TeamTable> {
  const wanted = LIMIT_NAMES.flatMap((limit) => (limits[limit] === undefined ? [] : [[LIMIT_COLUMN[limit], limits[limit]] as const]))
  return {
    ...(name !== undefined && { name }),
    ...(email !== undefined && { email }),
    ...(isBanned !== undefined && { is_banned: isBanned }),
    ...(isBlocked !== undefined && { is_blocked: isBlocked }),
    ...(blockedReason !== undefined && { blocked_reason: blockedReason }),
    ...Object.fromEntries(wanted),
  }
}
