import { KNOWN_DIFFERENCES } from '../../tests/differential/src/known-differences.ts'

const HEAD = `## Differences from the upstream daemon

\`npm run differential\` finds these when it sends the same requests to this daemon and to a build of the upstream one (tests/differential). Each is
intended; any other difference fails the run.

| difference | what and why |
| --- | --- |
`

/** The known differences, from the same list that the run uses. */
export function renderDifferences(): string {
  const rows = KNOWN_DIFFERENCES.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(
    ({ id, reason }) => `| ${id} | ${reason.replaceAll('|', '\\|')} |\n`,
  )
  return `${HEAD}${rows.join('')}`
}
