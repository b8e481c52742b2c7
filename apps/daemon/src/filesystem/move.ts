import type { MessageInitShape } from '@bufbuild/protobuf'
import type { MoveRequest, MoveResponseSchema } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { AppError } from '@sandyard/kit/errors/app-error'
import { lstat, rename } from 'node:fs/promises'
import { errnoCode, failedCall } from '../sys/errno-text.ts'
import type { Caller } from '../users/caller.ts'
import { ensureDirs } from '../users/ensure-dirs.ts'
import { parentDirectory } from '../users/path-parts.ts'
import { resolvePath } from '../users/resolve-path.ts'
import { getEntry } from './stat.ts'

/**
 * Move (envd.md 7.6): the destination is the whole new path, never a directory to move into. Its missing parents are created first and
 * kept if the move fails.
 */
export async function move(request: MoveRequest, caller: Caller): Promise<MessageInitShape<typeof MoveResponseSchema>> {
  const source = resolvePath(request.source, caller)
  const destination = resolvePath(request.destination, caller)
  await ensureDirs(parentDirectory(destination), caller.user)
  try {
    await refuseDirectory(source, destination)
    await rename(source, destination)
  } catch (error) {
    throw renameFailure(source, destination, error)
  }
  return { entry: await getEntry(destination, caller.owners) }
}

/** rename(2) silently replaces an empty directory; clients expect an error. */
async function refuseDirectory(source: string, destination: string): Promise<void> {
  const existing = await lstat(destination).catch(() => undefined)
  if (existing?.isDirectory() !== true) return
  // The error of a missing source takes precedence.
  const moved = await lstat(source)
  const isItself = moved.dev === existing.dev && moved.ino === existing.ino
  if (!isItself || source === destination) throw Object.assign(new Error('destination is a directory'), { code: 'EEXIST' })
}

function renameFailure(source: string, destination: string, error: unknown): AppError {
  const text = failedCall('rename', [source, destination], error)
  return errnoCode(error) === 'ENOENT'
    ? new AppError('not_found', `source file not found: ${text}`, { cause: error })
    : new AppError('internal', `error renaming: ${text}`, { cause: error })
}
