import { AppError } from '@sandyard/kit/errors/app-error'
import { parseRfc3339 } from '../http/rfc3339.ts'

/** The last second that RFC 3339 can write. */
const MAX_SECONDS = 253_402_300_799

/**
 * A time of a query, as RFC 3339 or as seconds of Unix time.
 *
 * @throws AppError `invalid_argument`
 */
export function readInstant(name: string, text: string): string {
  const seconds = /^\d{1,12}$/.test(text) ? Number(text) : undefined
  const time = seconds === undefined ? text : seconds <= MAX_SECONDS ? new Date(seconds * 1000).toISOString() : ''
  const read = parseRfc3339(time)
  if (read === undefined) throw new AppError('invalid_argument', `${name} must be a time of RFC 3339 or seconds of Unix time`)
  return read
}
