import { sql, type RawBuilder } from 'kysely'

/**
 * The clock of the database when it got the statement. Conditions that find rows by their age compare with it: no index can be searched with
 * `clock_timestamp()`, which changes within a statement. Where a statement may wait for a lock and then has to check again, it is too early.
 */
export function statementTime(): RawBuilder<Date> {
  return sql<Date>`statement_timestamp()`
}

/** `seconds` before `statementTime`. */
export function secondsAgo(seconds: number): RawBuilder<Date> {
  return sql<Date>`statement_timestamp() - make_interval(secs => ${seconds})`
}
