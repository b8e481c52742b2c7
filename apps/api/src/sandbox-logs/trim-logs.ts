import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'

/** The newest lines of a sandbox that are kept. */
const MAX_LINES = 10_000
/** What the messages and fields of these lines may take in the table. */
const MAX_BYTES = 16 * 1024 ** 2
/** Lines of one statement. */
const BATCH = 5000

/** Deletes the lines of a sandbox beyond those that are kept, so many at most. */
export async function trimLogs(db: Db, sandboxId: string): Promise<void> {
  await sql`
    delete from sandbox_log where log_id = any(array(
      select log_id from (
        select log_id, row_number() over newest as lines, sum(bytes) over newest as bytes
        from (
          select log_id, logged_at, pg_column_size(message) + pg_column_size(fields) as bytes from sandbox_log
          where sandbox_id = ${sandboxId} order by logged_at desc, log_id desc limit ${MAX_LINES + BATCH}
        ) as recent
        window newest as (order by logged_at desc, log_id desc rows unbounded preceding)
      ) as placed
      where lines > ${MAX_LINES} or bytes > ${MAX_BYTES}
      order by lines desc limit ${BATCH}
    ))
  `.execute(db)
}
