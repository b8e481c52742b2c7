import { posix } from 'node:path'

/** What begins a pattern in the e2b packages for JavaScript or Python. Braces and groups are none to Python's. */
const MAGIC = /[*?[{]|[!+@]\(/
const ANY_TEXT = /[*?]/
const ESCAPED = /\\(.)/g

/**
 * Where in an archive the source of a COPY may be, the likeliest first; empty for the archive's root. The e2b packages name the entries of
 * an archive by their paths in the context, whatever the source was, and have done the matching: of a pattern only the directories before
 * the first segment with a wildcard matter, and all of the archive below them is its match.
 *
 * - `./a`, `a/`, `a/.` and `b/../a` are `a`; a leading `/` is that of the context, as for Docker
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
