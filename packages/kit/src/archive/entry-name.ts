import { AppError } from '../errors/app-error.ts'

const MAX_PATH_BYTES = 4095
const MAX_NAME_BYTES = 255
/** Each directory of a name costs time at every lookup, and archives have a million names. */
const MAX_DEPTH = 256
/** Of UTF-16 in UTF-8. */
const MOST_BYTES_PER_UNIT = 3
/** How much of a name a message repeats. */
const QUOTED_LENGTH = 200

/**
 * The name of a tar entry as a path relative to the archive's root, without `.` and empty segments; empty for the root itself.
 *
 * @throws AppError `invalid_argument` for a name that leaves the archive or that no file system takes
 */
export function parseEntryName(name: string): string {
  if (name.startsWith('/')) refuseName(name, 'has an absolute name')
  if (name.includes('\0')) refuseName(name, 'has a NUL in its name')
  if (Buffer.byteLength(name) > MAX_PATH_BYTES) refuseName(name, 'has too long a name')
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.')
  if (segments.length > MAX_DEPTH) refuseName(name, `is more than ${MAX_DEPTH} directories deep`)
  for (const segment of segments) {
    if (segment === '..') refuseName(name, "has '..' in its name")
    const isLong = segment.length * MOST_BYTES_PER_UNIT > MAX_NAME_BYTES
    if (isLong && Buffer.byteLength(segment) > MAX_NAME_BYTES) refuseName(name, 'has too long a name')
  }
  return segments.join('/')
}

/** @throws AppError `invalid_argument`, always */
export function refuseName(name: string, reason: string): never {
  throw new AppError('invalid_argument', `the archive was refused: ${quoteName(name)} ${reason}`)
}

/** A name for a message: cut, in quotes, and without anything that would break a line or steer a terminal. */
export function quoteName(name: string): string {
  const cut = name.length > QUOTED_LENGTH ? `${name.slice(0, QUOTED_LENGTH)}…` : name
  // Control characters of both sets, the separators that count as line ends, and what turns the direction of writing.
  return `'${cut.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Cf}\p{Cs}]/gu, '?')}'`
}
