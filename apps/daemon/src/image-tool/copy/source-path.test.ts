import { expect, it } from 'vitest'
import { sourceCandidates } from './source-path.ts'

/** Sources that e2b 2.51.0 for JavaScript and 2.63.0 for Python accept, and the paths of the entries in their archives. */
it.for<[string, string[]]>([
  // `a` and what is below it
  ['a', ['a']],
  ['./a', ['a']],
  ['a/', ['a']],
  ['a/.', ['a']],
  ['b/../a', ['a']],
  ['a/b.txt', ['a/b.txt']],
  ['/a', ['a']],
  // `./`, `.` or nothing for the context itself, and all of it
  ['.', ['']],
  ['./', ['']],
  // no entry for what stands before the wildcard
  ['*', ['']],
  ['**', ['']],
  ['*.txt', ['']],
  ['./*.txt', ['']],
  ['**/*.txt', ['']],
  ['a/*', ['a']],
  ['a/b/**/*.txt', ['a/b']],
  ['a/b*.txt', ['a']],
  ['a/?.txt', ['a']],
  ['a/*/[bc]/d', ['a']],
  // patterns of JavaScript, names for Python
  ['{a,b}.txt', ['{a,b}.txt', '']],
  ['a/@(b)/c', ['a/@(b)/c', 'a']],
  ['app/(group)/@slot', ['app/(group)/@slot']],
  // a class for both; clients of other makes may mean the name
  ['app/[id]', ['app/[id]', 'app']],
  ['app/\\[id\\]', ['app/[id]']],
  ['a\\*/b/*', ['a*/b']],
  // above the context: the packages refuse it, and there is nothing
  ['../a', ['a']],
])('%s', ([source, candidates]) => {
  expect(sourceCandidates(source)).toEqual(candidates)
})
