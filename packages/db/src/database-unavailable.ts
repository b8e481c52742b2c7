import { AppError } from '@sandyard/kit/errors/app-error'
import { DatabaseError } from 'pg'

/**
 * SQLSTATEs that say nothing about the statement: connection failures (class 08, which a pool in front uses for all of its own), too many connections,
 * a server that stops, starts or has crashed, and a former primary that has become a standby.
 */
const SQL_STATES = /^(?:08...|53300|57P0[1235]|25006)$/

/** Failures of sockets and of name resolution. */
const SYSTEM_CODES: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])

/** What the client library says, without a code, about a connection that was lost or does not answer. */
const LIBRARY_TEXTS = /^(?:Connection terminated|Client (?:has encountered a connection error|was closed)|Query read timeout|timeout )/

/**
 * The database cannot be reached or does not answer. Whether the statement in flight took effect is not known: a lost commit may have succeeded.
 */
export class DatabaseUnavailable extends AppError {
  constructor(cause: unknown) {
    super('unavailable', 'The database cannot be reached: try again', { cause })
  }
}

/** SQLSTATEs of a named statement that the session does not know any more, as after `DISCARD` or `DEALLOCATE`, or knows as another one. */
const LOST_STATEMENT = /^(?:26000|42P05)$/
/** Refuses a kept plan whose result has other columns since a change of a table. */
const CHECK_OF_PLANS = 'RevalidateCachedQuery'

/** Whether a failed statement shows that its connection, or what its session has prepared, is lost: a pool must not use it again. */
export function isConnectionLost(err: unknown): boolean {
  if (err instanceof DatabaseError) {
    const { code = '', routine } = err
    return SQL_STATES.test(code) || LOST_STATEMENT.test(code) || routine === CHECK_OF_PLANS
  }
  if (!(err instanceof Error)) return false
  return SYSTEM_CODES.has((err as NodeJS.ErrnoException).code ?? '') || LIBRARY_TEXTS.test(err.message)
}

/** SQLSTATE of a statement that was ended, by the statement timeout or by an operator. The database has undone it, and its transaction. */
const QUERY_CANCELED = '57014'

/** SQLSTATEs of a server without disk or memory. It has undone the statement, and its transaction. */
const OUT_OF_ROOM = ['53000', '53100', '53200']

/** Whether a statement was ended because it took too long, as the error itself or as one of its causes. */
export function isStatementTimeout(err: unknown): boolean {
  return hasState(err, [QUERY_CANCELED])
}

/** Whether the database had no disk or memory for a statement, as the error itself or as one of its causes. */
export function isDatabaseFull(err: unknown): boolean {
  return hasState(err, OUT_OF_ROOM)
}

function hasState(err: unknown, states: readonly string[]): boolean {
  for (let cause = err; cause instanceof Error; cause = cause.cause)
    if (cause instanceof DatabaseError && states.includes(cause.code ?? '')) return true
  return false
}

/** Whether the database could not be reached, as the error itself or as one of its causes. */
export function isDatabaseUnavailable(err: unknown): boolean {
  for (let cause = err; cause instanceof Error; cause = cause.cause) if (cause instanceof DatabaseUnavailable) return true
  return false
}
