import { sql, type RawBuilder } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import { invalidAccessToken, invalidProviderTeam, invalidProviderToken } from './auth-errors.ts'
import { isValid, type Principal } from './principal.ts'

/** What the rights of a principal in its team rest on. */
export interface Grantor {
  readonly apiKeyId?: string
  readonly userId?: string
  /** With which the user has authenticated. */
  readonly accessTokenId?: string
  readonly isAdmin?: boolean
  /** A login of the dashboard, which is the credential then. */
  readonly dashboardSessionId?: string
}

export function grantorOf({ via, apiKeyId, user, accessTokenId, dashboardSessionId }: Principal): Grantor {
  if (dashboardSessionId !== undefined) return { dashboardSessionId, ...(apiKeyId !== undefined && { apiKeyId }) }
  if (via === 'admin_team') return { isAdmin: true }
  // The user of a key only made it.
  if (apiKeyId !== undefined) return { apiKeyId }
  return { ...(user !== undefined && { userId: user.id }), ...(accessTokenId !== undefined && { accessTokenId }) }
}

/**
 * Reads again what the rights of a principal rest on, and locks it until the end of the transaction: what is withdrawn meanwhile waits. To avoid
 * deadlocks a user is locked before memberships and tokens.
 *
 * @param teamId whose member the user must be
 * @throws AppError with the texts of control-plane.md 1.8 when the rights have ended since the authentication
 */
export async function holdGrantor(tx: Tx, principal: Principal, teamId?: string): Promise<void> {
  const { user, accessTokenId, dashboardSessionId } = principal
  if (dashboardSessionId !== undefined) return holdSession(tx, dashboardSessionId)
  const ended = accessTokenId === undefined ? invalidProviderToken() : invalidAccessToken('Cannot get the user for the given access token')
  if (!isValid(principal)) throw ended
  if (user === undefined) return
  const found = await tx.selectFrom('app_user').select('id').where('id', '=', user.id).forKeyShare().executeTakeFirst()
  if (found === undefined) throw ended
  if (teamId !== undefined) {
    const memberships = tx.selectFrom('team_member').select('user_id').where('user_id', '=', user.id).where('team_id', '=', teamId)
    if ((await memberships.forKeyShare().executeTakeFirst()) === undefined) throw invalidProviderTeam('Team not found')
  }
  if (accessTokenId === undefined) return
  const tokens = tx
    .selectFrom('access_token')
    .select('id')
    .where('id', '=', accessTokenId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', sql<Date>`clock_timestamp()`)]))
  if ((await tokens.forKeyShare().executeTakeFirst()) === undefined) throw ended
}

/** The session of a developer ends with its key, so the row is enough. */
async function holdSession(tx: Tx, sessionId: string): Promise<void> {
  const sessions = tx
    .selectFrom('dashboard_session')
    .select('session_id')
    .where('session_id', '=', sessionId)
    .where('expires_at', '>', sql<Date>`clock_timestamp()`)
  if ((await sessions.forKeyShare().executeTakeFirst()) === undefined) throw new AppError('unauthenticated', 'You are not logged in')
}

/** SQL condition: the credential is there and has not ended, and its user is still a member of the team. */
export function isStillGranted(
  { apiKeyId, userId, accessTokenId, dashboardSessionId, isAdmin = false }: Grantor,
  teamId: string,
): RawBuilder<boolean> {
  const isOpen = sql`(expires_at is null or expires_at > clock_timestamp())`
  const conditions = [
    apiKeyId === undefined ? [] : [sql`exists (select from api_key where id = ${apiKeyId} and team_id = ${teamId} and ${isOpen})`],
    userId === undefined ? [] : [sql`exists (select from team_member where user_id = ${userId} and team_id = ${teamId})`],
    accessTokenId === undefined ? [] : [sql`exists (select from access_token where id = ${accessTokenId} and ${isOpen})`],
    dashboardSessionId === undefined
      ? []
      : [sql`exists (select from dashboard_session where session_id = ${dashboardSessionId} and expires_at > clock_timestamp())`],
  ].flat()
  return conditions.length === 0 ? sql<boolean>`${isAdmin}::boolean` : sql<boolean>`(${sql.join(conditions, sql` and `)})`
}
