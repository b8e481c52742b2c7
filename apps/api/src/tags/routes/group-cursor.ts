import type { TagSort } from '@sandyard/api-contract/templates/tag-history'
import { AppError } from '@sandyard/kit/errors/app-error'
import { parseRfc3339 } from '../../http/rfc3339.ts'
import { isTag } from '../../templates/template-reference.ts'
import type { GroupPosition } from '../tag-groups.ts'

/** The cursor of the page after a group: opaque to clients, bound to the sort. */
export function encodeGroupCursor({ time, tag }: GroupPosition, sort: TagSort): string {
  return Buffer.from([sort, time, tag].join('|')).toString('base64url')
}

/** @throws AppError `invalid_argument` for an invalid cursor or one of another sort */
export function decodeGroupCursor(token: string, sort: TagSort): GroupPosition {
  const text = /^[A-Za-z0-9_-]+={0,2}$/.test(token) ? Buffer.from(token, 'base64url').toString() : ''
  const [madeFor, time = '', tag = '', ...rest] = text.split('|')
  const at = parseRfc3339(time)
  if (madeFor !== sort || at === undefined || !isTag(tag) || rest.length > 0) throw new AppError('invalid_argument', 'Invalid next token')
  return { time: at, tag }
}
