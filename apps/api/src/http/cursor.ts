import { AppError } from '@sandyard/kit/errors/app-error'
import { parseRfc3339 } from './rfc3339.ts'

export type Order = 'asc' | 'desc'

export interface Cursor {
  /** RFC 3339, UTC. */
  readonly time: string
  readonly id: string
}

const SEPARATOR = '__'
const ASCENDING = `${SEPARATOR}asc`

/** The token of the page after an item: opaque to clients, bound to the direction (control-plane.md 1.13). */
export function encodeCursor({ time, id }: { readonly time: Date | string; readonly id: string }, order: Order): string {
  const at = typeof time === 'string' ? time : time.toISOString()
  const text = `${at}${SEPARATOR}${id}${order === 'asc' ? ASCENDING : ''}`
  return Buffer.from(text).toString('base64').replaceAll('+', '-').replaceAll('/', '_')
}

/** @throws AppError `invalid_argument` for another text, or a cursor of the other direction */
export function decodeCursor(token: string, order: Order): Cursor {
  const text = /^[A-Za-z0-9_-]+={0,2}$/.test(token) ? Buffer.from(token, 'base64url').toString() : ''
  const isAscending = text.endsWith(ASCENDING)
  const [time = '', id = '', ...rest] = (isAscending ? text.slice(0, -ASCENDING.length) : text).split(SEPARATOR)
  const at = parseRfc3339(time)
  if (at === undefined || !/^[\w-]+$/.test(id) || rest.length > 0 || isAscending !== (order === 'asc')) {
    throw new AppError('invalid_argument', 'Invalid next token')
  }
  return { time: at, id }
}
