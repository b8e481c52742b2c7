import type { FastifyRequest } from 'fastify'
import { AppError } from '@sandyard/kit/errors/app-error'
import { teamBlocked } from '../../auth/auth-errors.ts'
import type { Principal } from '../../auth/principal.ts'
import type { Team } from '../../teams/team.ts'

/** A login of a browser. It is read anew for each request, so that a deleted key, a ban and a block count at once. */
export interface DashboardSession {
  readonly sessionId: string
  readonly role: 'developer' | 'operator'
  /** Undefined: an installation without a team. */
  readonly team: Team | undefined
  /** What `wire/*` runs as: `api_key` with the key of the login, or `admin_team`; `admin` for operators' operations. */
  readonly principal: Principal
  /** The key of a developer's login. */
  readonly key: { readonly id: string; readonly name: string } | undefined
  readonly expiresAt: Date
  /** Written at most once a minute. */
  readonly usedAt: Date
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the session hook under `/dashboard`. */
    dashboardSession: DashboardSession | null
  }
}

export const notLoggedIn = (): AppError => new AppError('unauthenticated', 'You are not logged in')

/** @throws AppError `unauthenticated` without a valid session */
export function getSession({ dashboardSession }: Pick<FastifyRequest, 'dashboardSession'>): DashboardSession {
  if (dashboardSession === null) throw notLoggedIn()
  return dashboardSession
}

/** @throws AppError `permission_denied` for the login of a key that may only read */
export function assertMayChange({ principal }: DashboardSession): void {
  if (principal.scope === undefined) return
  throw new AppError('permission_denied', 'The key of this login may only read')
}

/** For what needs a team, in an installation that has none. */
export function noTeamYet(): AppError {
  return new AppError('failed_precondition', 'There is no team yet: create one first')
}

/** The team of a session. @throws AppError `failed_precondition` without one; `permission_denied` for a blocked one, unless the operation reads or deletes */
export function getSessionTeam({ team }: DashboardSession, { whileBlocked }: { readonly whileBlocked: boolean }): Team {
  if (team === undefined) throw noTeamYet()
  if (team.isBlocked && !whileBlocked) throw teamBlocked(team.blockedReason)
  return team
}

/** @throws AppError `permission_denied` for developers */
export function assertOperator({ role }: DashboardSession): void {
  if (role !== 'operator') throw new AppError('permission_denied', 'Only operators may do this: log in with the admin token')
}
