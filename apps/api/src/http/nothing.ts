import { Type } from 'typebox'

/** The body of a 204. */
export const Nothing = Type.Null({ description: 'No content' })

/** A 202 without a body: clients read only the status (control-plane.md 10.5, 14.2). */
export const Accepted = Type.Unsafe<undefined>({ type: 'null', description: 'Accepted' })
