import type { IncomingHttpHeaders } from 'node:http'
import { parseHttpDate } from './http-date.ts'

/** What the conditions of a request come to. `full` also drops a range. */
export type Verdict = 'proceed' | 'full' | 'not-modified' | 'failed'

/**
 * Weighs the conditional headers of a download (envd.md 5.6). There are no entity tags here: `*` matches a file that exists and no
 * concrete tag ever does.
 *
 * @param mtimeSeconds undefined for a file without a modification time, to which no date compares
 */
export function checkPreconditions(headers: IncomingHttpHeaders, mtimeSeconds: number | undefined): Verdict {
  const dateOf = (name: 'if-unmodified-since' | 'if-modified-since' | 'if-range') => {
    const text = headers[name]
    return typeof text === 'string' ? parseHttpDate(text) : undefined
  }
  const unmodifiedSince = dateOf('if-unmodified-since')
  if (isPresent(headers['if-match'])) {
    if (!listsAny(headers['if-match'])) return 'failed'
  } else if (mtimeSeconds !== undefined && unmodifiedSince !== undefined && mtimeSeconds > unmodifiedSince) {
    return 'failed'
  }

  const modifiedSince = dateOf('if-modified-since')
  if (isPresent(headers['if-none-match'])) {
    if (listsAny(headers['if-none-match'])) return 'not-modified'
  } else if (mtimeSeconds !== undefined && modifiedSince !== undefined && mtimeSeconds <= modifiedSince) {
    return 'not-modified'
  }

  if (!isPresent(headers['if-range'])) return 'proceed'
  return mtimeSeconds !== undefined && dateOf('if-range') === mtimeSeconds ? 'proceed' : 'full'
}

function isPresent(header: string | string[] | undefined): header is string {
  return typeof header === 'string' && header !== ''
}

function listsAny(tags: string): boolean {
  return tags.split(',').some((tag) => tag.trim() === '*')
}
