import type { SandboxLogEntry, SandboxLogsV2 } from '@sandyard/api-contract/sandboxes/sandbox-logs'
import type { LogLine } from '@sandyard/dashboard-contract/live/topics'
import { wire } from '../../../api/wire.ts'
import { prependRows, type LogRow } from '../../../parts/log-search.ts'

export const MAX_ROWS = 100_000
const PAGE = 1000
/** Of a download: 500,000 lines. */
const MAX_PAGES = 500

export function rowOf({ id, at, level, text, fields }: LogLine): LogRow {
  return { key: id, at, level, text, fields }
}

/**
 * The rows after a reconnect. When the snapshot begins with a row that is shown, the rows before it stay. Otherwise lines between them may be
 * missing, so the snapshot replaces all rows.
 */
export function joinSnapshot(rows: readonly LogRow[], snapshot: readonly LogRow[]): readonly LogRow[] {
  const first = snapshot[0]
  if (first === undefined) return rows
  const at = rows.findLastIndex(({ key }) => key === first.key)
  return at === -1 ? snapshot : [...rows.slice(0, at), ...snapshot].slice(-MAX_ROWS)
}

/** Lines of the wire that are not among `rows` yet: the wire's lines have no ids, and its cursor includes the lines of its millisecond. */
export function newOlderRows(entries: readonly SandboxLogEntry[], rows: readonly LogRow[]): readonly LogRow[] {
  const oldest = rows[0]?.at ?? Infinity
  const known = new Map<string, number>()
  for (const { at, text } of rows) {
    if (at > oldest) break
    known.set(text, (known.get(text) ?? 0) + 1)
  }
  return entries
    .map(({ timestamp, level, message, fields }, index): LogRow => {
      const at = Date.parse(timestamp)
      return { key: `older ${at} ${entries.length - index} ${rows.length}`, at, level, text: message, fields }
    })
    .filter(({ at, text }) => {
      const times = at < oldest ? 0 : (known.get(text) ?? 0)
      if (times > 0) known.set(text, times - 1)
      return at < oldest || (at === oldest && times === 0)
    })
    .sort((one, other) => one.at - other.at)
}

/** Adds a page of older lines. `isAll`: there are no older ones. */
export async function readOlder(sandboxId: string, rows: readonly LogRow[]): Promise<{ rows: readonly LogRow[]; isAll: boolean }> {
  const cursor = rows[0]?.at
  const { data } = await wire<SandboxLogsV2>('GET', `/v2/sandboxes/${sandboxId}/logs`, {
    query: { direction: 'backward', limit: PAGE, ...(cursor !== undefined && { cursor }) },
  })
  const older = newOlderRows(data.logs, rows)
  return { rows: prependRows(rows, older, MAX_ROWS), isAll: older.length === 0 || data.logs.length < PAGE }
}

/** The whole log as text, one line each. */
export async function readWholeLog(sandboxId: string): Promise<Blob> {
  const pieces: string[] = []
  let cursor = 0
  let atCursor = 0
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { data } = await wire<SandboxLogsV2>('GET', `/v2/sandboxes/${sandboxId}/logs`, {
      query: { direction: 'forward', limit: PAGE, cursor },
    })
    const fresh = data.logs.slice(atCursor)
    pieces.push(...fresh.map((entry) => `${entry.timestamp} ${entry.level} ${entry.message}${fieldsText(entry.fields)}\n`))
    const last = data.logs.at(-1)
    if (last === undefined || data.logs.length < PAGE) break
    const next = Date.parse(last.timestamp)
    // A whole page of one millisecond: the next millisecond, since there is no other way past it.
    cursor = next === cursor && fresh.length === 0 ? next + 1 : next
    atCursor = cursor > next ? 0 : data.logs.filter(({ timestamp }) => Date.parse(timestamp) === next).length
  }
  return new Blob(pieces, { type: 'text/plain' })
}

function fieldsText(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => ` ${name}=${value}`)
    .join('')
}
