import { Type, type Static } from 'typebox'
import { pagingQuery } from '../paging.ts'

const teamID = Type.Optional(
  Type.String({ description: 'Identifier of the team; by default that of the key, or the default one of the user' }),
)

/** Query of `GET /templates`. */
export const ListTemplatesQuery = Type.Object({ teamID })
export type ListTemplatesQuery = Static<typeof ListTemplatesQuery>

/** Query of `GET /v2/templates`. */
export const ListTemplatesV2Query = Type.Object({ teamID, ...pagingQuery })
export type ListTemplatesV2Query = Static<typeof ListTemplatesV2Query>
