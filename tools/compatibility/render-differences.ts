import { KNOWN_DIFFERENCES } from '../../tests/differential/src/known-differences.ts'

const HEAD = `## Differences from the upstream daemon

What \`npm run differential\` finds when it sends the same requests to this daemon and to a build of the upstream one (tests/differential): each is
meant, and whatever else differs fails that run.

| difference | what and why |
| --- | --- |
`

/** The differences that the run counts as known, from the list that it counts by. */
export function renderDifferences(): string {
  const rows = KNOWN_DIFFERENCES.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(
    ({ id, reason }) => `| ${id} | ${reason.replaceAll('|', '\\|')} |\n`,
  )
  return `${HEAD}${rows.join('')}`
}
