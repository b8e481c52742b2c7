import { AppError, isAppError } from '@sandyard/kit/errors/app-error'

const FULL: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** The failure of a write to a file, as a sentence for the operator. Other failures are returned unchanged. */
export function describeWriteFailure(error: unknown, file: string): unknown {
  if (isAppError(error)) return error
  const { code, syscall } = error as NodeJS.ErrnoException
  if (FULL.has(code)) {
    return new AppError('insufficient_storage', `There is no room for ${file}: free some space, or name a file on another disk.`, {
      cause: error,
    })
  }
  if (code === undefined || syscall === undefined) return error
  return new AppError('failed_precondition', `${file} cannot be written (${code}).`, { cause: error })
}

/** The failure of a read of a file, as a sentence for the operator. Other failures are returned unchanged. */
export function describeReadFailure(error: unknown, file: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (isAppError(error) || code === undefined || syscall === undefined) return error
  if (code === 'ENOENT') return new AppError('not_found', `${file} does not exist.`, { cause: error })
  return new AppError('failed_precondition', `${file} cannot be read (${code}).`, { cause: error })
}
