import { posix } from 'node:path'

/** The beginnings of patterns in the e2b packages for JavaScript or Python. The Python package does not support braces and groups. */
const MAGIC = /[*?[{]|[!+@]\(/
const ANY_TEXT = /[*?]/
const ESCAPED = /\\(.)/g

/**
 * Possible paths of a COPY's source in its archive, the most likely first; empty for the archive's root. The e2b packages name the entries of
 * an archive by their paths in the context, and have already applied patterns: so only the directories before
 * the first segment with a wildcard count, and every entry of the archive below them matches.
 *
 * - `./a`, `a/`, `a/.` and `b/../a` are `a`; a leading `/` is the root of the context, as in Docker
 * - `a/*`, `a/**` and `a/b*.txt` are all of `a`; `*` and `*.txt` are all of the archive
 * - `a/[id]`, `a/{b,c}` and `a/@(b)` may be names, where there is such an entry, since no pattern of these kinds matches itself
 * - a backslash takes the meaning of the next character: `a/\[id\]` is the name `a/[id]`
 */
export function sourceCandidates(source: string): string[] {
  const segments = posix.resolve('/', source).slice(1).split('/')
  const firstPattern = segments.findIndex((segment) => MAGIC.test(segment.replaceAll(ESCAPED, '')))
  const literal = segments.join('/').replaceAll(ESCAPED, '$1')
  if (firstPattern === -1) return [literal]
  const base = segments.slice(0, firstPattern).join('/').replaceAll(ESCAPED, '$1')
  return segments.some((segment) => ANY_TEXT.test(segment.replaceAll(ESCAPED, ''))) ? [base] : [literal, base]
}
