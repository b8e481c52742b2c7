import { readRows, renderRows, type Row } from './row.ts'

const BEGIN = '<!-- matrix: the table up to the next mark is written by `npm run matrix` -->'
const END = '<!-- matrix: end -->'

/**
 * The page with the rows of this run in the place of older rows of the same clients; other rows stay.
 *
 * @throws Error if the page has lost its marks
 */
export function updatePage(page: string, rows: readonly Row[], order: readonly string[]): string {
  const [before, rest] = splitAt(page, BEGIN)
  const [table, after] = splitAt(rest, END)
  const ran = new Set(rows.map(({ client }) => client))
  const all = [...readRows(table).filter(({ client }) => order.includes(client) && !ran.has(client)), ...rows]
  const sorted = order.flatMap((name) => all.filter(({ client }) => client === name))
  return `${before}${BEGIN}\n\n${renderRows(sorted)}\n\n${END}${after}`
}

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  if (at < 0) throw new Error(`docs/clients.md has lost its line "${mark}".`)
  return [text.slice(0, at), text.slice(at + mark.length)]
}
