import { AppError } from '@sandyard/kit/errors/app-error'
import { PAGE_SIZE } from '@sandyard/dashboard-contract/limits'

/** The place of a row: its sort key as text, and its id. */
export interface Place {
  readonly key: string
  readonly id: string
}

/** @throws AppError `invalid_argument` for a text that no list has given */
export function readCursor(cursor: string | undefined): Place | undefined {
  if (cursor === undefined) return undefined
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Array.isArray(parts) && parts.length === 2 && parts.every((part) => typeof part === 'string' && !part.includes('\0'))) {
      return { key: String(parts[0]), id: String(parts[1]) }
    }
  } catch {
    // Not one of ours.
  }
  throw new AppError('invalid_argument', 'The cursor is not one of this list')
}

export function limitOf({ limit = PAGE_SIZE }: { readonly limit?: number }): number {
  return limit
}

/** @param rows - up to `limit + 1`; the extra row only shows that there are more */
export function takePage<Row>(
  rows: readonly Row[],
  limit: number,
  placeOf: (row: Row) => Place,
): { page: Row[]; nextCursor: string | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  if (rows.length <= limit || last === undefined) return { page, nextCursor: null }
  const { key, id } = placeOf(last)
  return { page, nextCursor: Buffer.from(JSON.stringify([key, id])).toString('base64url') }
}
