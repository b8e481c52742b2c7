import type { MessageInitShape } from '@bufbuild/protobuf'
import type { RemoveRequest, RemoveResponseSchema } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { AppError } from '@sandyard/kit/errors/app-error'
import { errnoText } from '../sys/errno-text.ts'
import type { Caller } from '../users/caller.ts'
import { cleanPath } from '../users/path-parts.ts'
import { resolvePath } from '../users/resolve-path.ts'
import { toBytePath, toText } from './byte-path.ts'
import { removeTree, RemovalFailure } from './remove-tree.ts'

/**
 * Remove (envd.md 7.7): with all that is below; a link goes, its target stays; what is not there counts as removed. The root, and an
 * empty path, which would mean the whole home directory, are refused.
 */
export async function remove(request: RemoveRequest, caller: Caller): Promise<MessageInitShape<typeof RemoveResponseSchema>> {
  if (request.path === '') throw new AppError('invalid_argument', 'path is required')
  const path = resolvePath(request.path, caller)
  if (cleanPath(path) === '/') throw new AppError('invalid_argument', 'the root directory cannot be removed')
  if (/\/\.{1,2}\/*$/.test(path)) throw removalError(`RemoveAll ${path}: invalid argument`)
  try {
    await removeTree(toBytePath(path.replace(/\/+$/, '')))
  } catch (error) {
    if (!(error instanceof RemovalFailure)) throw error
    throw removalError(`unlinkat ${toText(error.path)}: ${errnoText(error.cause)}`, error)
  }
  return {}
}

function removalError(text: string, cause?: unknown): AppError {
  return new AppError('internal', `error removing file or directory: ${text}`, { cause })
}
