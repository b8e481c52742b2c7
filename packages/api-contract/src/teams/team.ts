import { Type, type Static } from 'typebox'

/** A team of the user, with an API key that was made for this answer (control-plane.md 5.2). */
export const Team = Type.Object(
  {
    teamID: Type.String({ format: 'uuid', description: 'Identifier of the team' }),
    name: Type.String(),
    apiKey: Type.String({ description: 'A new API key of the team' }),
    isDefault: Type.Boolean({ description: 'Whether it is the default team of the user' }),
  },
  { title: 'Team' },
)
export type Team = Static<typeof Team>
