import type { MessageInitShape } from '@bufbuild/protobuf'
import type { RemoveRequest, RemoveResponseSchema } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { stat } from 'node:fs/promises'
import { AppError } from '@sandyard/kit/errors/app-error'
import { errnoText, failedCall } from '../sys/errno-text.ts'
import type { Caller } from '../users/caller.ts'
import { cleanPath } from '../users/path-parts.ts'
import { resolvePath } from '../users/resolve-path.ts'
import { pathArgument, toText } from '../users/path-bytes.ts'
import { removeTree, RemovalFailure } from './remove-tree.ts'

/**
 * Remove (envd.md 7.7): an entry with its subtree; a link, not its target. A missing entry counts as removed. The root is refused, and so is
 * an empty path, which would mean the whole home directory.
 */
export async function remove(request: RemoveRequest, caller: Caller): Promise<MessageInitShape<typeof RemoveResponseSchema>> {
  if (request.path === '') throw new AppError('invalid_argument', 'path is required')
  const path = resolvePath(request.path, caller)
  if (cleanPath(path) === '/') throw new AppError('invalid_argument', 'the root directory cannot be removed')
  if (/\/\.{1,2}\/*$/.test(path)) throw removalError(`RemoveAll ${path}: invalid argument`)
  const place = path.replace(/\/+$/, '')
  try {
    await removeTree(place)
  } catch (error) {
    if (!(error instanceof RemovalFailure)) throw error
    const text = error.path === place ? await explainParent(place) : undefined
    throw removalError(text ?? `unlinkat ${toText(error.path)}: ${errnoText(error.cause)}`, error)
  }
  return {}
}

/** The error of entering the parent directory; undefined if it can be entered and the path itself is the cause. */
async function explainParent(place: string): Promise<string | undefined> {
  const parent = place.slice(0, place.lastIndexOf('/')).replace(/\/+$/, '') || '/'
  return stat(pathArgument(parent)).then(
    () => undefined,
    (error: unknown) => failedCall('open', toText(parent), error),
  )
}

function removalError(text: string, cause?: unknown): AppError {
  return new AppError('internal', `error removing file or directory: ${text}`, { cause })
}
