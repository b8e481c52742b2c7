import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import type { DaemonLogEntry, DaemonLogs } from '../daemon/daemon-logs.ts'
import { lineBytes } from './line-bytes.ts'
import type { LogTarget } from './log-target.ts'
import { trimLogs } from './trim-logs.ts'

/** Older lines are deleted whenever so many lines were stored, over all runs of the daemon. */
const TRIM_EVERY = 1000

/**
 * Stores what was read of a daemon. Entries are stored once, however many servers read them: the place moves in the same statement, and only
 * from the place after which they were read.
 *
 * The times are those of the daemon, but never in the future and always after the last stored line: a client that reads on from the last
 * line misses nothing.
 */
export async function appendDaemonLogs(db: Db, { sandboxId, teamId, place }: Omit<LogTarget, 'daemon'>, logs: DaemonLogs): Promise<void> {
  const before = place?.boot === logs.boot ? place.place : 0
  // A hostile daemon may repeat entries.
  const entries = logs.entries.filter(({ n }) => n > before)
  const last = entries.at(-1)
  if (last === undefined) return
  const lines = withGap(entries, before).map(({ at, level, message, fields }) => ({ at, level, message, fields }))
  const { rows } = await sql<{ untrimmed: number }>`
    with moved as (
      insert into sandbox_log_cursor (sandbox_id, boot, place, untrimmed)
      select sandbox_id, ${logs.boot}, ${last.n}::bigint, ${lines.length}::integer from sandbox where sandbox_id = ${sandboxId}
      on conflict (sandbox_id) do update set boot = excluded.boot, place = excluded.place, untrimmed = excluded.untrimmed +
        case when sandbox_log_cursor.untrimmed < ${TRIM_EVERY} then sandbox_log_cursor.untrimmed else 0 end
      where sandbox_log_cursor.boot = ${place?.boot ?? null}::text and sandbox_log_cursor.place = ${place?.place ?? null}::bigint
      returning sandbox_id, untrimmed
    ),
    stored as (
      select max(logged_at) + interval '1 millisecond' as next_at from sandbox_log where sandbox_id = ${sandboxId}
    ),
    written as (
      insert into sandbox_log (sandbox_id, team_id, logged_at, level, message, fields, bytes)
      select moved.sandbox_id, ${teamId}::uuid,
        greatest(least(to_timestamp(line.at / 1000), clock_timestamp()), stored.next_at), line.level, line.message, line.fields, ${lineBytes}
      from moved, stored, rows from (
        jsonb_to_recordset(${JSON.stringify(lines)}::jsonb) as (at double precision, level text, message text, fields jsonb)
      ) with ordinality as line
      order by line.ordinality
    )
    select untrimmed from moved
  `.execute(db)
  if ((rows[0]?.untrimmed ?? 0) >= TRIM_EVERY) await trimLogs(db, sandboxId)
}

/** Says how many entries the daemon has dropped before they were read. */
function withGap(entries: readonly DaemonLogEntry[], before: number): readonly DaemonLogEntry[] {
  const [first] = entries
  const dropped = first === undefined ? 0 : first.n - before - 1
  if (first === undefined || dropped <= 0) return entries
  const message = `${dropped} log entries were dropped: there were too many`
  return [{ n: first.n - 1, at: first.at, level: 'warn', message, fields: { logger: 'daemon', dropped } }, ...entries]
}
