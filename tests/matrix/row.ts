/** One line of the table in `docs/clients.md`. No cell has a vertical bar. */
export interface Row {
  readonly client: string
  readonly version: string
  readonly flow: string
  readonly result: string
  /** `YYYY-MM-DD`. */
  readonly date: string
}

const COLUMNS = ['client', 'version', 'flow', 'result', 'date'] as const
const MAX_CELL_LENGTH = 320

/** The rows of the table of a page, such as the one that an earlier run wrote. */
export function readRows(page: string): Row[] {
  return page
    .split('\n')
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()))
    .filter((cells) => cells.length === COLUMNS.length && /^\d{4}-\d{2}-\d{2}$/.test(cells[4] ?? ''))
    .map(([client = '', version = '', flow = '', result = '', date = '']) => ({ client, version, flow, result, date }))
}

/** A table of Markdown whose columns have the width of their longest cell, as the formatter writes it. */
export function renderRows(rows: readonly Row[]): string {
  const cells = [[...COLUMNS], ...rows.map((row) => COLUMNS.map((column) => cellOf(row[column])))]
  const widths = COLUMNS.map((_, index) => Math.max(3, ...cells.map((line) => line[index]?.length ?? 0)))
  const lines = cells.map((line) => `| ${line.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`)
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return [lines[0], rule, ...lines.slice(1)].join('\n')
}

function cellOf(text: string): string {
  return text
    .replaceAll(/[|\s]+/g, ' ')
    .trim()
    .slice(0, MAX_CELL_LENGTH)
}
