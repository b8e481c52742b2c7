import { MAX_ORIGINAL_BYTES } from '@sandyard/dashboard-contract/limits'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { OriginalFile } from '@sandyard/runtime/types'

class TooLargeError extends Error {
  readonly statusCode = 413
}

const KINDS = { directory: 'a folder', symlink: 'a symbolic link', special: 'a device, a pipe or a socket' } as const

/** @throws AppError `not_found`, `conflict` for what is no file; an error with the status 413 */
export function toContent(file: OriginalFile): Buffer {
  if (file.kind === 'file') return file.content
  if (file.kind === 'absent') throw new AppError('not_found', 'It was not there when the sandbox was created')
  if (file.kind === 'large')
    throw new TooLargeError(`The original file has ${file.sizeBytes} bytes: at most ${MAX_ORIGINAL_BYTES} are shown`)
  throw new AppError('conflict', `It was ${KINDS[file.kind]} when the sandbox was created, and no file`)
}
