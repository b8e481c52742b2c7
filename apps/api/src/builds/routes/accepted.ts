import { Type } from 'typebox'

/** A 202 without a body: clients look at nothing but the status (control-plane.md 10.5). */
export const Accepted = Type.Unsafe<undefined>({ type: 'null', description: 'The build was started' })
