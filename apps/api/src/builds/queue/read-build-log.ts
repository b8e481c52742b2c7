import type { Db } from '@sandyard/db/database'
import type { LogLevel } from '@sandyard/db/schema/build-log'

export interface LogEntry {
  readonly time: Date
  readonly level: LogLevel
  readonly message: string
  readonly step: string | undefined
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

export interface LogPage {
  readonly offset: number
  readonly limit: number
  /** The least severe level that counts; undefined: all. */
  readonly level?: LogLevel | undefined
}

/**
 * Entries by their place, oldest first: `limit` of those that count, after the first `offset` of them (control-plane.md 10.6). A page
 * costs the same wherever it is, unless a level is asked for.
 */
export async function readLogPage(db: Db, buildId: string, { offset, limit, level }: LogPage): Promise<LogEntry[]> {
  const query = selectEntries(db, buildId).orderBy('seq').limit(limit)
  const rows =
    level === undefined || level === 'debug'
      ? await query.where('seq', '>', offset).execute()
      : await query.where('level', 'in', levelsFrom(level)).offset(offset).execute()
  return rows.map(toEntry)
}

export interface LogWindow {
  /** Undefined: from the beginning forward, from the end backward. */
  readonly cursor?: Date | undefined
  readonly direction: 'forward' | 'backward'
  readonly limit: number
  readonly level?: LogLevel | undefined
}

/** Entries by their time (control-plane.md 10.7): from the cursor on, oldest first, or up to it, newest first. */
export async function readLogWindow(db: Db, buildId: string, { cursor, direction, limit, level }: LogWindow): Promise<LogEntry[]> {
  const isForward = direction === 'forward'
  let query = selectEntries(db, buildId)
    .orderBy('seq', isForward ? 'asc' : 'desc')
    .limit(limit)
  if (cursor !== undefined) query = query.where('time', isForward ? '>=' : '<=', cursor)
  if (level !== undefined && level !== 'debug') query = query.where('level', 'in', levelsFrom(level))
  return (await query.execute()).map(toEntry)
}

/** What a failed build is explained with: the newest warnings and errors of a step, oldest first (control-plane.md 10.6). */
export async function readStepProblems(db: Db, buildId: string, step: string | null, limit: number): Promise<LogEntry[]> {
  const rows = await selectEntries(db, buildId)
    .where('level', 'in', levelsFrom('warn'))
    .where('step', step === null ? 'is' : '=', step)
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute()
  return rows.map(toEntry).toReversed()
}

function selectEntries(db: Db, buildId: string) {
  return db.selectFrom('build_log').select(['time', 'level', 'message', 'step']).where('build_id', '=', buildId)
}

function levelsFrom(level: LogLevel): readonly LogLevel[] {
  return LEVELS.slice(LEVELS.indexOf(level))
}

function toEntry(row: { time: Date; level: LogLevel; message: string; step: string | null }): LogEntry {
  return { time: row.time, level: row.level, message: row.message, step: row.step ?? undefined }
}
