import type { MessageInitShape } from '@bufbuild/protobuf'
import type { RemoveRequest, RemoveResponseSchema } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { stat } from 'node:fs/promises'
import { AppError } from '@sandyard/kit/errors/app-error'
import { errnoText, failedCall } from '../sys/errno-text.ts'
import type { Caller } from '../users/caller.ts'
import { cleanPath } from '../users/path-parts.ts'
import { resolvePath } from '../users/resolve-path.ts'
import { type BytePath, toArgument, toBytePath, toText } from './byte-path.ts'
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
  const place = toBytePath(path.replace(/\/+$/, ''))
  try {
    await removeTree(place)
  } catch (error) {
    if (!(error instanceof RemovalFailure)) throw error
    const text = error.path === place ? await explainParent(place) : undefined
    throw removalError(text ?? `unlinkat ${toText(error.path)}: ${errnoText(error.cause)}`, error)
  }
  return {}
}

/** Why the directory that holds the path cannot be entered; undefined where it can be, and the path itself is at fault. */
async function explainParent(place: BytePath): Promise<string | undefined> {
  const parent = place.slice(0, place.lastIndexOf('/')).replace(/\/+$/, '') || '/'
  return stat(toArgument(parent as BytePath)).then(
    () => undefined,
    (error: unknown) => failedCall('open', toText(parent as BytePath), error),
  )
}

function removalError(text: string, cause?: unknown): AppError {
  return new AppError('internal', `error removing file or directory: ${text}`, { cause })
}
