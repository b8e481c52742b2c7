import type { OwnLimits } from './team-limits.ts'

/** The team that a request acts for. */
export interface Team {
  readonly id: string
  readonly name: string
  /** The namespace of its template names. */
  readonly slug: string
  readonly isBanned: boolean
  readonly isBlocked: boolean
  readonly blockedReason: string | undefined
  readonly limits: OwnLimits
}

export interface User {
  readonly id: string
  readonly email: string
}
