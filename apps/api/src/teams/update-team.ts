import type { Updateable } from 'kysely'
import type { Database } from '@sandyard/db/database'
import type { TeamTable } from '@sandyard/db/schema/team'
import { checkStorable } from '../builds/start/check-storable.ts'
import { LIMIT_COLUMN, LIMIT_NAMES, type LimitName } from './team-limits.ts'
import { TEAM_COLUMNS, type TeamRow } from './team-rows.ts'
import { teamTransaction, type TeamTurn } from './team-transaction.ts'

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
 * @throws AppError `invalid_argument` for texts that cannot be stored; the error of `onGone`
 */
export async function updateTeam(database: Database, turn: Omit<TeamTurn, 'isUrgent'>, change: TeamChange): Promise<TeamRow> {
  const { name, email, blockedReason } = change
  checkStorable({ name, email, blockedReason })
  const set = columnsOf(change)
  return teamTransaction(database, { ...turn, isUrgent: true }, async ({ tx, id }) => {
    if (Object.keys(set).length > 0) await tx.updateTable('team').set(set).where('id', '=', id).execute()
    return tx.selectFrom('team').select(TEAM_COLUMNS).where('id', '=', id).executeTakeFirstOrThrow()
  })
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
