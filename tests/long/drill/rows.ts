import type { Served } from '../attacks/neighbour.ts'

/** The cost of an attack for one process. */
export interface Cost {
  readonly name: string
  readonly cpuMs: number
  readonly beforeMib: number
  readonly peakMib: number
  readonly afterMib: number
}

/** One attack in the table. */
export interface Row {
  readonly attack: string
  readonly sent: string
  readonly observed: string
  readonly seconds: number
  readonly costs: readonly Cost[]
  readonly before: readonly Served[]
  readonly during: readonly Served[]
  readonly faults: readonly string[]
}

const SHOWN_FAILURES = 5

/** The table in Markdown: the figures, then the requests and the results. */
export function renderTable(rows: readonly Row[]): string {
  const processes = rows[0]?.costs.map(({ name }) => name) ?? []
  const requests = rows[0]?.during.map(({ name }) => name) ?? []
  const heads = [
    'attack',
    's',
    ...processes.map((name) => `${name}: CPU s; MiB before, peak, after`),
    ...requests.map((name) => `${name}: ms before -> during, p50 / slowest`),
    'faults',
  ]
  const figures = rows.map((row) => [
    row.attack,
    row.seconds.toFixed(1),
    ...row.costs.map(renderCost),
    ...row.during.map((served, at) => `${renderWaits(row.before[at])} -> ${renderWaits(served)}`),
    String(row.faults.length),
  ])
  const texts = rows.map(({ attack, sent, observed }) => [attack, sent, observed])
  return `${render(heads, figures)}\n\n${render(['attack', 'sent', 'observed'], texts)}`
}

/** The faults of the server: failed requests of the neighbour. */
export function failuresOf(served: readonly Served[]): string[] {
  const failures = served.flatMap((kind) => kind.failures)
  const more = failures.length - SHOWN_FAILURES
  return [...failures.slice(0, SHOWN_FAILURES), ...(more > 0 ? [`and ${more} more requests of the neighbour`] : [])]
}

function renderCost({ cpuMs, beforeMib, peakMib, afterMib }: Cost): string {
  return `${(cpuMs / 1000).toFixed(1)}; ${[beforeMib, peakMib, afterMib].map((mib) => mib.toFixed(0)).join(', ')}`
}

function renderWaits(served: Served | undefined): string {
  const sorted = (served?.waits ?? []).toSorted((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0
  return `${median.toFixed(0)} / ${(sorted.at(-1) ?? 0).toFixed(0)}`
}

function render(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}
