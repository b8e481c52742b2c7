import type { Selectable } from 'kysely'
import type { Db } from '@sandyard/db/database'
import type { BuildLogTable, LogLevel } from '@sandyard/db/schema/build-log'

export type LogRow = Pick<Selectable<BuildLogTable>, 'time' | 'level' | 'step' | 'message'>

const BY_SEVERITY: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** Cap of the warnings of a step; the newest ones explain a failure. */
const MOST_OF_A_STEP = 100

interface Page {
  readonly buildId: string
  /** The least severe level. */
  readonly level?: LogLevel | undefined
  readonly limit: number
}

/** Entries `[offset, offset + limit)` with at least the severity `level` (control-plane.md 10.6). */
export async function listLogsByOffset(db: Db, { buildId, level, limit, offset }: Page & { readonly offset: number }): Promise<LogRow[]> {
  const query = selectLogs(db, buildId).orderBy('seq').limit(limit)
  // Sequence numbers have no gaps, so the offset is a number and needs no count.
  if (level === undefined) return query.where('seq', '>', offset).execute()
  return query.where('level', 'in', atLeast(level)).offset(offset).execute()
}

export interface TimePage extends Page {
  /** Inclusive. Default: the beginning or the end of the log. */
  readonly cursor: Date | undefined
  readonly direction: 'forward' | 'backward'
}

/** Entries from a time on, in the given direction (control-plane.md 10.7). Entries are stored in the order of their times. */
export async function listLogsByTime(db: Db, { buildId, level, limit, cursor, direction }: TimePage): Promise<LogRow[]> {
  const isForward = direction === 'forward'
  return selectLogs(db, buildId)
    .$if(level !== undefined, (query) => query.where('level', 'in', atLeast(level ?? 'debug')))
    .$if(cursor !== undefined, (query) => query.where('time', isForward ? '>=' : '<=', cursor ?? new Date(0)))
    .orderBy('seq', isForward ? 'asc' : 'desc')
    .limit(limit)
    .execute()
}

/** The newest warnings and errors of a step, in order. */
export async function listWarnings(db: Db, buildId: string, step: string): Promise<LogRow[]> {
  const newest = await selectLogs(db, buildId)
    .where('step', '=', step)
    .where('level', 'in', atLeast('warn'))
    .orderBy('seq', 'desc')
    .limit(MOST_OF_A_STEP)
    .execute()
  return newest.toReversed()
}

function selectLogs(db: Db, buildId: string) {
  return db.selectFrom('build_log').select(['time', 'level', 'step', 'message']).where('build_id', '=', buildId)
}

function atLeast(level: LogLevel): LogLevel[] {
  return BY_SEVERITY.slice(BY_SEVERITY.indexOf(level))
}
