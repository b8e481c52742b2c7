import type { Db } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import { isUuid } from '@sandyard/kit/ids/uuid'
import { noteTeam } from '@sandyard/kit/tracing/scope'
import type { Team } from '../teams/team.ts'
import { teamBanned, teamBlocked } from './auth-errors.ts'
import { findDefaultTeam, findTeamOfMember, hasTeams } from './auth-queries.ts'
import type { Principal } from './principal.ts'

export interface ActingTeamOptions {
  /** The team that the request names, unchecked. */
  readonly teamId?: string | undefined
  /** The operation is one that a blocked team may still call (control-plane.md 1.10). */
  readonly mayBeBlocked?: boolean
}

/**
 * The team of a request to an operation that also accepts user tokens (control-plane.md 1.9). The hooks check bans and blocks of the team of
 * an API key; this function checks them for the team of a user.
 *
 * @throws AppError with the texts of control-plane.md 1.9 and 1.10
 */
export async function getActingTeam(db: Db, principal: Principal | null, options: ActingTeamOptions = {}): Promise<Team> {
  const { teamId, mayBeBlocked = false } = options
  if (principal?.team !== undefined) {
    if (teamId !== undefined && teamId.toLowerCase() !== principal.team.id) {
      throw new AppError('invalid_argument', 'Team ID param mismatch with the API key')
    }
    return principal.team
  }
  if (principal?.user === undefined) throw new AppError('unauthenticated', 'You are not authenticated')
  const { user } = principal
  return usable(teamId === undefined ? await getDefaultTeam(db, user.id) : await getNamedTeam(db, teamId, user.id), mayBeBlocked)
}

/**
 * Like `getActingTeam`, for a request about an object of a team: a user acts for the owner if the user is a member. Undefined when the
 * request cannot act for the owner.
 *
 * @throws AppError with the texts of control-plane.md 1.9 and 1.10
 */
export async function findTeamForOwner(
  db: Db,
  principal: Principal | null,
  { ownerId, ...options }: ActingTeamOptions & { readonly ownerId: string },
): Promise<Team | undefined> {
  if (principal?.team !== undefined || options.teamId !== undefined) {
    const team = await getActingTeam(db, principal, options)
    return team.id === ownerId ? team : undefined
  }
  if (principal?.user === undefined) throw new AppError('unauthenticated', 'You are not authenticated')
  const owner = await findTeamOfMember(db, ownerId, principal.user.id)
  return owner && usable(owner, options.mayBeBlocked ?? false)
}

async function getNamedTeam(db: Db, teamId: string, userId: string): Promise<Team> {
  const team = isUuid(teamId) ? await findTeamOfMember(db, teamId, userId) : undefined
  if (team === undefined) throw new AppError('permission_denied', 'You are not allowed to access this team')
  return team
}

async function getDefaultTeam(db: Db, userId: string): Promise<Team> {
  const team = await findDefaultTeam(db, userId)
  if (team !== undefined) return team
  if (await hasTeams(db, userId)) throw new AppError('internal', 'Default team not found')
  throw new AppError('permission_denied', "You don't have access to any teams")
}

function usable(team: Team, mayBeBlocked: boolean): Team {
  noteTeam(team.id)
  if (team.isBanned) throw teamBanned()
  if (team.isBlocked && !mayBeBlocked) throw teamBlocked(team.blockedReason)
  return team
}
