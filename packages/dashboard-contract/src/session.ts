import { Type, type Static } from 'typebox'
import type { Instant } from './api-shape.ts'
import { uuid } from './request-fields.ts'

/** Exactly one of the members: a team's API key, the admin token, or the single-use code of a link. */
export const LoginBody = Type.Union([
  Type.Object({ key: Type.String({ minLength: 1, maxLength: 256 }) }, { additionalProperties: false }),
  Type.Object({ adminToken: Type.String({ minLength: 1, maxLength: 1024 }) }, { additionalProperties: false }),
  Type.Object({ code: Type.String({ minLength: 1, maxLength: 128 }) }, { additionalProperties: false }),
])
export type LoginBody = Static<typeof LoginBody>

/** The team that an operator's session works with. A developer's session has one team for ever. */
export const SwitchTeamBody = Type.Object({ teamId: uuid }, { additionalProperties: false })
export type SwitchTeamBody = Static<typeof SwitchTeamBody>

export interface SessionTeam {
  readonly teamId: string
  readonly name: string
  readonly slug: string
  readonly isBlocked: boolean
  readonly blockedReason: string | null
}

export interface Me {
  readonly role: 'developer' | 'operator'
  /** Null: an installation without a team. */
  readonly team: SessionTeam | null
  /** Developers: their team. Operators: at most 200, by name; the rest is found with `GET /teams`. */
  readonly teams: readonly SessionTeam[]
  /** The key of a developer's session. */
  readonly key: { readonly id: string; readonly name: string; readonly isReadOnly: boolean } | null
  readonly expiresAt: Instant
  readonly server: ServerInfo
}

/** What the page needs to write the code that it offers to copy, and to hide what this server does not have. */
export interface ServerInfo {
  readonly version: string
  readonly apiUrl: string
  readonly sandboxUrl: string
  /** Of sandbox URLs, with the port. */
  readonly domain: string
  readonly hasMemoryPause: boolean
  readonly hasSecrets: boolean
  readonly hasEgressGateway: boolean
  readonly hasVolumes: boolean
  readonly maxLifetimeSeconds: number
}

export interface SessionApi {
  /** 401 for a wrong credential, 403 for a wrong Origin, 429 after five wrong ones in a minute. Sets the cookie. */
  'POST /login': { body: LoginBody; answer: Me }
  /** 204, also without a session. Deletes the row and the cookie. */
  'POST /logout': { answer: undefined }
  /** 401 without a session: the page shows the login. */
  'GET /me': { answer: Me }
  /** Operators only. */
  'POST /me/team': { body: SwitchTeamBody; answer: Me }
}
