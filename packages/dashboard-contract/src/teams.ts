import { Type, type Static } from 'typebox'
import type { Instant, Page } from './api-shape.ts'
import { pageQuery, search, uuid } from './request-fields.ts'
import type { SessionTeam } from './session.ts'

export const ListTeamsQuery = Type.Object({ ...pageQuery, search }, { additionalProperties: false })
export type ListTeamsQuery = Static<typeof ListTeamsQuery>

export interface LimitUse {
  readonly name: string
  /** Null: no limit. */
  readonly limit: number | null
  readonly used: number | null
  readonly unit: 'count' | 'seconds' | 'mib' | 'bytes'
  /** The team has one of its own; else it is that of the settings. */
  readonly isOwn: boolean
}

export interface TeamRow extends SessionTeam {
  readonly isBanned: boolean
  readonly running: number
  readonly paused: number
  readonly limit: number
  readonly createdAt: Instant
}

export interface TeamDetail extends TeamRow {
  readonly email: string
  readonly limits: readonly LimitUse[]
  readonly members: readonly {
    readonly userId: string
    readonly email: string
    readonly isDefault: boolean
    readonly since: Instant | null
  }[]
}

export const TeamParams = Type.Object({ teamId: uuid })

/** Changes (create, block, limits, members, delete, kill all): `wire` (`/admin/...`), operators only. */
export interface TeamsApi {
  /** Operators: all teams. Developers: their own. */
  'GET /teams': { query: ListTeamsQuery; answer: Page<TeamRow> }
  /** Developers: only their own, else 404. */
  'GET /teams/{teamId}': { params: { teamId: string }; answer: TeamDetail }
}
