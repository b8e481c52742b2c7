import { Type } from 'typebox'
import { Nullable } from '../nullable.ts'

export const DASHBOARD_LIMITS = { default: 50, most: 100 } as const

export const cursor = Type.Optional(Type.String({ maxLength: 1024, description: 'The nextCursor of the previous page' }))
/** The server clamps values, so the schema has no bounds. */
export const limit = Type.Optional(
  Type.Integer({ format: 'int32', default: DASHBOARD_LIMITS.default, description: 'Maximum number of items a page, 100 at most' }),
)
export const nextCursor = Nullable(Type.String({ description: 'Cursor of the next page; null on the last one' }))
