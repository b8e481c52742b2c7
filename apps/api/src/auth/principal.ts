import type { KeyScope } from '@sandyard/api-contract/credentials/api-key'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Team, User } from '../teams/team.ts'

type Via = 'api_key' | 'access_token' | 'oidc' | 'user_team' | 'admin_team' | 'admin'

/** The authenticated caller of a request (control-plane.md 1.9). */
export interface Principal {
  readonly via: Via
  readonly team?: Team
  /** The user; for an API key, the user who created it. */
  readonly user?: User | undefined
  readonly apiKeyId?: string
  readonly accessTokenId?: string
  /** What an API key is limited to; undefined: nothing. */
  readonly scope?: KeyScope | undefined
  /** When the credential ends to be valid; checked at each use, because principals are remembered. */
  readonly expiresAt?: Date | undefined
  /** The request comes from the dashboard. */
  readonly dashboardSessionId?: string
}

/** Whether the credential may still be used. */
export function isValid({ expiresAt }: Principal): boolean {
  return expiresAt === undefined || Date.now() < expiresAt.getTime()
}

/** @throws AppError `unauthenticated` when nobody is authenticated */
export function requirePrincipal(principal: Principal | null): Principal {
  if (principal === null) throw new AppError('unauthenticated', 'You are not authenticated')
  return principal
}

/** @throws AppError `unauthenticated` when the credential names no team */
export function getTeam(principal: Principal | null): Team {
  if (principal?.team === undefined) throw new AppError('unauthenticated', 'You are not authenticated')
  return principal.team
}

/** @throws AppError `unauthenticated` when the credential names no user */
export function getUser(principal: Principal | null): User {
  if (principal?.user === undefined) throw new AppError('unauthenticated', 'You are not authenticated')
  return principal.user
}

/**
 * The end of the credential that a request presents, if it is an access token of this server with one, or a login of the dashboard with a key that
 * has one: the keys that it makes do not outlive it.
 */
export function endOfToken(principal: Principal | null): Date | undefined {
  return principal?.accessTokenId === undefined && principal?.dashboardSessionId === undefined ? undefined : principal?.expiresAt
}
