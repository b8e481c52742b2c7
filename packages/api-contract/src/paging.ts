import { Type, type Static, type TSchema } from 'typebox'

export const DEFAULT_PAGE_SIZE = 100

/** The query of every paged operation (control-plane.md 1.13). */
export const pagingQuery = {
  nextToken: Type.Optional(Type.String({ description: 'Cursor to start the list from: the X-Next-Token of the previous page' })),
  limit: Type.Optional(
    Type.Integer({ format: 'int32', minimum: 1, maximum: 100, default: DEFAULT_PAGE_SIZE, description: 'Maximum number of items a page' }),
  ),
}

/** The query of an operation without other parameters. */
export const PagingQuery = Type.Object(pagingQuery)

/** The answer of a paged operation, with the header of the next page (control-plane.md 1.13). */
export function Paged<T extends TSchema>(schema: T) {
  const headers = { 'X-Next-Token': { type: 'string', description: 'Cursor of the next page; absent on the last one' } }
  return Type.Unsafe<Static<T>>({ ...schema, headers })
}
