import { sql, type Selectable } from 'kysely'
import type { Db } from '@sandyard/db/database'
import type { LogLevel } from '@sandyard/db/schema/build-log'
import type { SandboxLogTable } from '@sandyard/db/schema/sandbox-log'
import { secondsAgo } from '@sandyard/db/statement-time'

export type SandboxLogRow = Pick<Selectable<SandboxLogTable>, 'logged_at' | 'level' | 'message' | 'fields'>

export interface LogQuery {
  readonly teamId: string
  readonly sandboxId: string
  /** Unix milliseconds, inclusive. Default: the beginning or the end of the log. */
  readonly cursor?: number | undefined
  readonly direction: 'forward' | 'backward'
  readonly limit: number
  /** The least severe level. */
  readonly level?: LogLevel | undefined
  /** Part of the message, case-sensitive. */
  readonly search?: string | undefined
  /** Older lines are not returned. */
  readonly windowMs: number
}

const BY_SEVERITY: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** The lines of a sandbox of the team from the cursor on, in the given direction (control-plane.md 8.2); none for an unknown sandbox. */
export async function listSandboxLogs(db: Db, query: LogQuery): Promise<SandboxLogRow[]> {
  const { cursor, direction, level, search, windowMs } = query
  // Postgres has no texts with NUL, so no message contains one.
  if (search?.includes('\0') === true) return []
  const isForward = direction === 'forward'
  const order = isForward ? 'asc' : 'desc'
  return db
    .selectFrom('sandbox_log')
    .select(['logged_at', 'level', 'message', 'fields'])
    .where('sandbox_id', '=', query.sandboxId)
    .where('team_id', '=', query.teamId)
    .where('logged_at', '>=', secondsAgo(windowMs / 1000))
    .$if(cursor !== undefined, (lines) => lines.where('logged_at', isForward ? '>=' : '<=', new Date(cursor ?? 0)))
    .$if(level !== undefined, (lines) => lines.where('level', 'in', BY_SEVERITY.slice(BY_SEVERITY.indexOf(level ?? 'debug'))))
    .$if(search !== undefined, (lines) => lines.where(sql<boolean>`strpos(message, ${search ?? ''}) > 0`))
    .orderBy('logged_at', order)
    .orderBy('log_id', order)
    .limit(query.limit)
    .execute()
}
