import type { Tx } from '@sandyard/db/database'
import type { LogLevel } from '@sandyard/db/schema/build-log'

/** A stored line. */
export interface StoredLine {
  readonly time: Date
  readonly level: LogLevel
  readonly message: string
  readonly step?: string | undefined
}

const LINES_AT_ONCE = 1000

/** Appends lines to a build's log. Concurrent callers are serialised, so that sequence numbers have no gaps. */
export async function appendLog(tx: Tx, buildId: string, lines: readonly StoredLine[]): Promise<void> {
  if (lines.length === 0) return
  const bytes = lines.reduce((sum, { message }) => sum + Buffer.byteLength(message), 0)
  const row = await tx
    .updateTable('build')
    .set((eb) => ({ log_count: eb('log_count', '+', lines.length), log_bytes: eb('log_bytes', '+', bytes) }))
    .where('build_id', '=', buildId)
    .returning('log_count')
    .executeTakeFirst()
  if (row === undefined) return
  const first = row.log_count - lines.length + 1
  const rows = lines.map(({ time, level, message, step }, index) => {
    return { build_id: buildId, seq: first + index, time, level, step: step ?? null, message }
  })
  for (let at = 0; at < rows.length; at += LINES_AT_ONCE) {
    await tx
      .insertInto('build_log')
      .values(rows.slice(at, at + LINES_AT_ONCE))
      .execute()
  }
}
