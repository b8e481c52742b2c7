import { AppError } from '@sandyard/kit/errors/app-error'
import { isTag, isUuid } from '../templates/template-reference.ts'
import { shorten } from '../text/shorten.ts'

/**
 * Tags that are to be assigned or looked up: trimmed, in lower case, each once (control-plane.md 2.2).
 *
 * @throws AppError `invalid_argument` for what is no tag, and for what would be taken for the id of a build
 */
export function parseTags(raw: readonly string[]): string[] {
  return [...new Set(raw.map(parseTag))]
}

/** @throws AppError `invalid_argument` as `parseTags` does */
export function parseTag(raw: string): string {
  const tag = raw.trim().toLowerCase()
  if (!isTag(tag)) throw new AppError('invalid_argument', `Invalid tag: invalid tag: ${shorten(tag)}`)
  if (isUuid(tag)) throw new AppError('invalid_argument', `Invalid tag: invalid tag '${tag}': tag cannot be a UUID`)
  return tag
}
