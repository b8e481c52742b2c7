import type { FastifyReply } from 'fastify'
import { DEFAULT_PAGE_SIZE } from '@sandyard/api-contract/paging'
import { AppError } from '@sandyard/kit/errors/app-error'
import { decodeCursor, encodeCursor, type Cursor, type Order } from './cursor.ts'

interface PageRequest {
  /** The last row of the page before. */
  readonly after: Cursor | undefined
  readonly limit: number
}

interface PageOptions {
  readonly order?: Order
  /** Whether a text can be the id of a row. A comparison in the database can fail for another one. */
  readonly isId?: (text: string) => boolean
}

/** @throws AppError `invalid_argument` for a token that is not one of this list */
export function readPage(
  { nextToken, limit = DEFAULT_PAGE_SIZE }: { readonly nextToken?: string; readonly limit?: number },
  { order = 'desc', isId = () => true }: PageOptions = {},
): PageRequest {
  const after = nextToken === undefined ? undefined : decodeCursor(nextToken, order)
  if (after !== undefined && !isId(after.id)) throw new AppError('invalid_argument', 'Invalid next token')
  return { after, limit }
}

/**
 * Sets the token of the next page (control-plane.md 1.13).
 *
 * @param rows - up to `limit + 1`; the extra row only shows that there are more
 * @returns the rows of the page
 */
export function takePage<Row>(
  reply: FastifyReply,
  rows: readonly Row[],
  { limit, order = 'desc', toCursor }: { readonly limit: number; readonly order?: Order; readonly toCursor: (row: Row) => Cursor },
): Row[] {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  if (rows.length > limit && last !== undefined) void reply.header('x-next-token', encodeCursor(toCursor(last), order))
  return page
}
