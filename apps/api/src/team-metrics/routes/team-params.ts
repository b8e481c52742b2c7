import { Type } from 'typebox'

/** Any text: a team of another form is another team, which has its own error text. */
export const TeamParams = Type.Object({ teamID: Type.String() })
