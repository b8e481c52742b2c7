import { Type } from 'typebox'

/** The body of a 204. */
export const Nothing = Type.Null({ description: 'No content' })
