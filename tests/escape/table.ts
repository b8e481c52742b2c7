import type { Row } from './judge.ts'
import type { Place } from './probe.ts'

const HEADS = ['probe', 'what it tries', 'from, as whom', 'where it is allowed', 'result', ''] as const
const SHOWN = 70

/** The table in Markdown, in the order of the rows. */
export function renderTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => [row.id, row.title, spotsOf(row), shortened(row.control), shortened(row.result), row.verdict])
  const widths = HEADS.map((head, at) => Math.max(head.length, ...cells.map((line) => line[at]?.length ?? 0)))
  const line = (texts: readonly string[]): string => `| ${texts.map((text, at) => text.padEnd(widths[at] ?? 0)).join(' | ')} |`
  return [line(HEADS), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n')
}

/** `sandbox, template step (root, user); Dockerfile step (root)` */
function spotsOf({ spots }: Row): string {
  const accounts = new Map<Place, string>()
  for (const { place, account } of spots) accounts.set(place, [accounts.get(place), account].filter(Boolean).join(', '))
  const byAccounts = Object.groupBy(accounts.keys(), (place) => accounts.get(place) ?? '')
  return Object.entries(byAccounts)
    .map(([who, places = []]) => `${places.join(', ')} (${who})`)
    .join('; ')
}

function shortened(text: string): string {
  const safe = text.replaceAll('|', String.raw`\|`)
  return safe.length > SHOWN ? `${safe.slice(0, SHOWN - 3)}...` : safe
}
