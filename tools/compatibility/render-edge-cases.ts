import { EDGE_CASES } from './edge-cases.ts'
import { linkTests } from './tests.ts'

const HEAD = `## Edge cases of the daemon

Errors that an implementation is likely to have when it is written from the interface only. Each has a test with the number in its title; without one this page is not generated.

| number | edge case | tests |
| --- | --- | --- |
`

/**
 * The table of the edge cases.
 *
 * @param tests the files whose titles name an edge case, by its number
 * @throws Error that lists the numbers without a test
 */
export function renderEdgeCases(tests: ReadonlyMap<number, readonly string[]>): string {
  const missing: number[] = []
  const rows = EDGE_CASES.map((text, index) => {
    const number = index + 1
    const files = tests.get(number)
    if (files === undefined) missing.push(number)
    return `| 18.${number} | ${text} | ${linkTests(files ?? [])} |`
  })
  if (missing.length > 0) throw new Error(`no test names these edge cases, as "(envd.md 18.N)" in its title: ${missing.join(', ')}`)
  return `${HEAD}${rows.join('\n')}\n`
}
