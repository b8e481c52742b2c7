import { sql, type RawBuilder } from 'kysely'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Principal } from './principal.ts'

/** What the rights of a principal in its team rest on. */
export interface Grantor {
  readonly apiKeyId?: string
  readonly userId?: string
  /** With which the user has authenticated. */
  readonly accessTokenId?: string
  readonly isAdmin?: boolean
}

/** @throws AppError `unauthenticated` when nobody is authenticated */
export function grantorOf(principal: Principal | null): Grantor {
  if (principal === null) throw new AppError('unauthenticated', 'You are not authenticated')
  const { via, apiKeyId, user, accessTokenId } = principal
  if (via === 'admin_team') return { isAdmin: true }
  // The user of a key only made it.
  if (apiKeyId !== undefined) return { apiKeyId }
  return { ...(user !== undefined && { userId: user.id }), ...(accessTokenId !== undefined && { accessTokenId }) }
}

/** SQL condition: the credential is there and has not ended, and its user is still a member of the team. */
export function isStillGranted({ apiKeyId, userId, accessTokenId, isAdmin = false }: Grantor, teamId: string): RawBuilder<boolean> {
  const isOpen = sql`(expires_at is null or expires_at > clock_timestamp())`
  const conditions = [
    apiKeyId === undefined ? [] : [sql`exists (select from api_key where id = ${apiKeyId} and team_id = ${teamId} and ${isOpen})`],
    userId === undefined ? [] : [sql`exists (select from team_member where user_id = ${userId} and team_id = ${teamId})`],
    accessTokenId === undefined ? [] : [sql`exists (select from access_token where id = ${accessTokenId} and ${isOpen})`],
  ].flat()
  return conditions.length === 0 ? sql<boolean>`${isAdmin}::boolean` : sql<boolean>`(${sql.join(conditions, sql` and `)})`
}
