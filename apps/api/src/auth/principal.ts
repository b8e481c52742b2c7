import { AppError } from '@sandyard/kit/errors/app-error'
import type { Team, User } from '../teams/team.ts'

type Via = 'api_key' | 'access_token' | 'user_team' | 'admin_team' | 'admin'

/** The authenticated caller of a request (control-plane.md 1.9). */
export interface Principal {
  readonly via: Via
  readonly team?: Team
  /** The user; for an API key, the user who created it. */
  readonly user?: User
  readonly apiKeyId?: string
  readonly accessTokenId?: string
}

/** @throws AppError `unauthenticated` when the credential names no team */
export function getTeam(principal: Principal | null): Team {
  if (principal?.team === undefined) throw new AppError('unauthenticated', 'You are not authenticated')
  return principal.team
}
