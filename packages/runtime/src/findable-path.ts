import { posix } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'

/** Linux: no name in a file system is longer. */
const MAX_NAME_BYTES = 255
const MAX_PATH_BYTES = 4096

/**
 * The path without `.`, `..` and slashes at its end; undefined for one that no file can have.
 *
 * @throws AppError `invalid_argument` for a path that is not absolute
 */
export function findablePath(path: string): string | undefined {
  if (!path.startsWith('/')) throw new AppError('invalid_argument', 'The path must be absolute.')
  if (!path.isWellFormed() || path.includes('\0') || Buffer.byteLength(path) >= MAX_PATH_BYTES) return undefined
  if (path.split('/').some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) return undefined
  return posix.normalize(path).replace(/(?<=.)\/$/, '')
}
