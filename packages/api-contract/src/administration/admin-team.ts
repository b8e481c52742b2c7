import { Type, type Static } from 'typebox'
import { Nullable } from '../nullable.ts'
import { pagingQuery } from '../paging.ts'
import { DateTime } from '../times.ts'
import { Email } from './admin-user.ts'
import { TeamLimits, TeamLimitsUpdate } from './team-limits.ts'

const MAX_NAME_LENGTH = 128
const MAX_REASON_LENGTH = 500

const name = Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH, description: 'Name of the team' })
const slug = Type.String({
  minLength: 1,
  maxLength: MAX_NAME_LENGTH,
  pattern: '^[a-z0-9-]+$',
  description: 'Namespace of its template names; stays when the team is renamed',
})
const email = Type.String({ ...Email, description: 'Address of who is responsible for the team' })

/** A team as administrators see it. */
export const AdminTeam = Type.Object(
  {
    teamID: Type.String({ format: 'uuid', description: 'Identifier of the team' }),
    name: Type.String(),
    slug: Type.String(),
    email: Type.String(),
    isBanned: Type.Boolean({ description: 'It cannot authenticate' }),
    isBlocked: Type.Boolean({ description: 'It may only read and delete' }),
    blockedReason: Nullable(Type.String()),
    createdAt: DateTime('When it was created'),
    limits: TeamLimits,
    effectiveLimits: TeamLimits,
  },
  { title: 'AdminTeam' },
)
export type AdminTeam = Static<typeof AdminTeam>

/** Body of `POST /admin/teams`. */
export const NewTeam = Type.Object({ name, email, slug: Type.Optional(slug) }, { title: 'NewTeam' })

/** Body of `PATCH /admin/teams/{teamID}`: what is absent stays. */
export const TeamUpdate = Type.Object(
  {
    name: Type.Optional(name),
    email: Type.Optional(email),
    isBanned: Type.Optional(Type.Boolean()),
    isBlocked: Type.Optional(Type.Boolean()),
    blockedReason: Type.Optional(
      Nullable(Type.String({ minLength: 1, maxLength: MAX_REASON_LENGTH, description: 'Shown to the team; null clears it' })),
    ),
    limits: Type.Optional(TeamLimitsUpdate),
  },
  { title: 'TeamUpdate' },
)
export type TeamUpdate = Static<typeof TeamUpdate>

/** Query of the lists of administrators. */
export const SearchQuery = Type.Object({
  ...pagingQuery,
  search: Type.Optional(Type.String({ maxLength: MAX_NAME_LENGTH, description: 'Text in a name or an address, in any case' })),
})
