import type { Db } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import { isUuid } from '@sandyard/kit/ids/uuid'
import { noteTeam } from '@sandyard/kit/tracing/scope'
import { findTeam } from '../auth/auth-queries.ts'
import { teamNotFound } from '../teams/team-errors.ts'
import type { Team } from '../teams/team.ts'

/**
 * The team that an administrator names in the path (control-plane.md 13.2).
 *
 * @throws AppError `invalid_argument` for a text that is no UUID; `not_found` for an unknown team
 */
export async function requireTeam(db: Db, teamId: string): Promise<Team> {
  const team = await findTeam(db, checkUuid(teamId, 'team ID'))
  if (team === undefined) throw teamNotFound()
  noteTeam(team.id)
  return team
}

/** @throws AppError `invalid_argument` that names `what` */
export function checkUuid(id: string, what: string): string {
  if (!isUuid(id)) throw new AppError('invalid_argument', `Invalid ${what}`)
  return id
}
