import { Type, type Static } from 'typebox'
import { Nullable } from '../nullable.ts'
import { pagingQuery } from '../paging.ts'
import { TeamUser } from '../templates/template-fields.ts'
import { DateTime } from '../times.ts'
import { CredentialName, expiresAt, Mask } from './credential-fields.ts'

/** The limited keys, which are ours: they may only connect to sandboxes, only read, only build templates. */
export type KeyScope = 'connect' | 'read' | 'build'

const scope = Type.Optional(
  Type.Unsafe<KeyScope>({
    type: 'string',
    enum: ['connect', 'read', 'build'],
    description: 'All that the key may do; everything when absent',
  }),
)

const fields = {
  id: Type.String({ format: 'uuid', description: 'Identifier of the API key' }),
  name: Type.String(),
  mask: Mask,
  createdAt: DateTime('When it was created'),
  createdBy: Type.Optional(Nullable({ ...TeamUser, description: 'Creating user' })),
  lastUsed: Type.Optional(Nullable(DateTime('Last use, to the minute'))),
  expiresAt,
  scope,
}

/** An API key as lists show it (control-plane.md 14.2). */
export const TeamApiKey = Type.Object(fields, { title: 'TeamAPIKey' })
export type TeamApiKey = Static<typeof TeamApiKey>

/** The only answer with the raw key. */
export const CreatedTeamApiKey = Type.Object(
  { ...fields, key: Type.String({ description: 'The raw API key, which is not shown again' }) },
  { title: 'CreatedTeamAPIKey' },
)
export type CreatedTeamApiKey = Static<typeof CreatedTeamApiKey>

export const NewTeamApiKey = Type.Object({ name: CredentialName, expiresAt, scope }, { title: 'NewTeamAPIKey' })
export type NewTeamApiKey = Static<typeof NewTeamApiKey>

export const UpdateTeamApiKey = Type.Object({ name: CredentialName }, { title: 'UpdateTeamAPIKey' })

/** Without either the answer has all keys (control-plane.md 1.13); pages are ours. */
export const ListApiKeysQuery = Type.Object({
  nextToken: pagingQuery.nextToken,
  limit: Type.Optional(
    Type.Integer({ format: 'int32', minimum: 1, maximum: 100, description: 'Makes pages of so many; without it the answer has all' }),
  ),
})
export type ListApiKeysQuery = Static<typeof ListApiKeysQuery>
