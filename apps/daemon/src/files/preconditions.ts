import { parseHttpDate } from './http-date.ts'

/** The result of the conditions of a request. `full` means the whole file, ranges ignored. */
export type Verdict = 'proceed' | 'full' | 'not-modified' | 'failed'

type Condition = 'if-match' | 'if-none-match' | 'if-modified-since' | 'if-unmodified-since' | 'if-range'

/** An entity tag (RFC 9110 8.8.3). */
const TAG = /^(?:W\/)?"[!\x23-\x7e\x80-\xff]*"/

/**
 * Evaluates the conditional headers of a download (envd.md 5.6). There are no entity tags here: `*` matches a file that exists and no
 * concrete tag ever does.
 *
 * @param header the value of a header, empty where there is none
 * @param mtimeSeconds undefined for a file of the epoch, which counts as having no modification time but for `If-Range`
 */
export function checkPreconditions(header: (name: Condition) => string, mtimeSeconds: number | undefined): Verdict {
  const unmodifiedSince = parseHttpDate(header('if-unmodified-since'))
  if (header('if-match') !== '') {
    if (!listsAny(header('if-match'))) return 'failed'
  } else if (mtimeSeconds !== undefined && unmodifiedSince !== undefined && mtimeSeconds > unmodifiedSince) {
    return 'failed'
  }

  const modifiedSince = parseHttpDate(header('if-modified-since'))
  if (header('if-none-match') !== '') {
    if (listsAny(header('if-none-match'))) return 'not-modified'
  } else if (mtimeSeconds !== undefined && modifiedSince !== undefined && mtimeSeconds <= modifiedSince) {
    return 'not-modified'
  }

  if (header('if-range') === '') return 'proceed'
  return parseHttpDate(header('if-range')) === (mtimeSeconds ?? 0) ? 'proceed' : 'full'
}

/** Whether a list of tags has a `*`; everything after an invalid tag is ignored. */
function listsAny(tags: string): boolean {
  for (let rest = tags; ;) {
    rest = rest.replace(/^[\s,]+/, '')
    if (rest.startsWith('*')) return true
    const tag = TAG.exec(rest)
    if (tag === null) return false
    rest = rest.slice(tag[0].length)
  }
}
