import { AppError } from '@sandyard/kit/errors/app-error'
import type { BigIntStats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import type { DaemonLog } from '../loggers.ts'
import { errnoCode } from '../sys/errno-text.ts'

/** Errors that a request causes by its paths. All other system errors concern the operator. */
const CAUSED_BY_PATHS: ReadonlySet<string> = new Set([
  'EEXIST',
  'EINVAL',
  'EISDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENOENT',
  'ENOTDIR',
  'ENOTEMPTY',
  'ENXIO',
  'EXDEV',
])

/**
 * Logs a failed file operation if it is unexpected: a system error that the path does not explain, or an error that is not an AppError.
 * The line has the call, its errno and the kind of file at the path. It contains no path and no text of the client.
 *
 * @param operation such as `GET /files` or `filesystem.Filesystem/Move`
 */
export function logFileFailure(log: DaemonLog, operation: string, error: unknown): void {
  if (error instanceof AppError && error.kind !== 'internal') return
  const failure = findSystemError(error)
  if (failure === undefined) {
    if (!(error instanceof AppError)) log.error({ operation, err: error }, 'file operation failed')
    return
  }
  const errno = errnoCode(failure)
  if (CAUSED_BY_PATHS.has(errno)) return
  void kindOfPath(failure.path).then((pathKind) =>
    log.error({ operation, call: failure.syscall, errno, pathKind }, 'file operation failed'),
  )
}

/** The failed system call behind an error. Node's own stream errors have a code too, but no call. */
function findSystemError(error: unknown): NodeJS.ErrnoException | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (errnoCode(at) !== '' && 'syscall' in at) return at as NodeJS.ErrnoException
  }
  return undefined
}

/** Errors of calls on open files have no path. */
async function kindOfPath(path: string | undefined): Promise<string> {
  if (path === undefined) return 'open file'
  return lstat(path, { bigint: true }).then(kindOfFile, () => 'unknown')
}

function kindOfFile(stats: BigIntStats): string {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  if (stats.isSymbolicLink()) return 'link'
  return stats.isCharacterDevice() || stats.isBlockDevice() ? 'device' : 'other'
}
