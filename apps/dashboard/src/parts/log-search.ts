export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface LogRow {
  /** Unique in the list and stable. */
  readonly key: string
  /** Unix milliseconds. */
  readonly at: number
  readonly level: LogLevel
  /** Shown before the text, such as the number of a build step. */
  readonly label?: string
  readonly text: string
  readonly fields?: Readonly<Record<string, string>>
}

/** Rows of a level and the more severe ones. The same array when all remain. */
export function rowsOfLevel(rows: readonly LogRow[], least: LogLevel): readonly LogRow[] {
  const rank = LOG_LEVELS.indexOf(least)
  return rank <= 0 ? rows : rows.filter(({ level }) => LOG_LEVELS.indexOf(level) >= rank)
}

/** Indexes of the rows whose text or fields have `query`, whatever the case. */
export function findRows(rows: readonly LogRow[], query: string): readonly number[] {
  const needle = query.toLowerCase()
  if (needle === '') return []
  const found: number[] = []
  for (const [index, row] of rows.entries()) if (hasText(row, needle)) found.push(index)
  return found
}

function hasText({ text, label, fields }: LogRow, needle: string): boolean {
  if (text.toLowerCase().includes(needle) || label?.toLowerCase().includes(needle) === true) return true
  if (fields === undefined) return false
  for (const name in fields) if (`${name}=${fields[name]}`.toLowerCase().includes(needle)) return true
  return false
}

/** The place in `found` of the first match at `index` or after it; the first match when there is none. */
export function matchAfter(found: readonly number[], index: number): number {
  let low = 0
  let high = found.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((found[middle] ?? 0) < index) low = middle + 1
    else high = middle
  }
  return low === found.length ? 0 : low
}

/** `text` cut at each place of `query`: odd pieces are matches. */
export function markedPieces(text: string, query: string): readonly string[] {
  if (query === '') return [text]
  const pieces: string[] = []
  const lower = text.toLowerCase()
  const needle = query.toLowerCase()
  let from = 0
  for (let at = lower.indexOf(needle); at !== -1 && pieces.length < 200; at = lower.indexOf(needle, from)) {
    pieces.push(text.slice(from, at), text.slice(at, at + needle.length))
    from = at + needle.length
  }
  pieces.push(text.slice(from))
  return pieces
}

/** Adds rows at the end and drops the oldest ones beyond `most`. Rows that are there already are not added again: `key`s of a snapshot may overlap. */
export function appendRows(rows: readonly LogRow[], added: readonly LogRow[], most: number): readonly LogRow[] {
  if (added.length === 0) return rows
  const known = new Set(rows.slice(-Math.max(added.length, 1000)).map(({ key }) => key))
  const fresh = added.filter(({ key }) => !known.has(key))
  if (fresh.length === 0) return rows
  const all = [...rows, ...fresh]
  return all.length > most ? all.slice(all.length - most) : all
}

/** Adds older rows at the start, as far as there is room. */
export function prependRows(rows: readonly LogRow[], older: readonly LogRow[], most: number): readonly LogRow[] {
  const known = new Set(rows.slice(0, Math.max(older.length, 1000)).map(({ key }) => key))
  const fresh = older.filter(({ key }) => !known.has(key))
  const room = Math.max(0, most - rows.length)
  return fresh.length === 0 || room === 0 ? rows : [...fresh.slice(-room), ...rows]
}
