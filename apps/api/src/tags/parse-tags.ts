import { AppError } from '@sandyard/kit/errors/app-error'
import { isTag, isUuid } from '../templates/template-reference.ts'
import { shorten } from '../text/shorten.ts'

/**
 * Normalises tags: trimmed, in lower case, without duplicates (control-plane.md 2.2).
 *
 * @throws AppError `invalid_argument` for an invalid tag, and for a tag that looks like a build id
 */
export function parseTags(raw: readonly string[]): string[] {
  return [...new Set(raw.map(parseTag))]
}

/** @throws AppError `invalid_argument` like `parseTags` */
export function parseTag(raw: string): string {
  const tag = raw.trim().toLowerCase()
  if (!isTag(tag)) throw new AppError('invalid_argument', `Invalid tag: invalid tag: ${shorten(tag)}`)
  if (isUuid(tag)) throw new AppError('invalid_argument', `Invalid tag: invalid tag '${tag}': tag cannot be a UUID`)
  return tag
}
