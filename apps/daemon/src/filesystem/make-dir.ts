import type { MessageInitShape } from '@bufbuild/protobuf'
import type { MakeDirRequest, MakeDirResponseSchema } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { AppError } from '@sandyard/kit/errors/app-error'
import { stat } from 'node:fs/promises'
import { errnoCode, failedCall } from '../sys/errno-text.ts'
import type { Caller } from '../users/caller.ts'
import { ensureDirs } from '../users/ensure-dirs.ts'
import { resolvePath } from '../users/resolve-path.ts'
import { getEntry } from './stat.ts'

/** MakeDir (envd.md 7.5): with its parents, all new levels owned by the caller. */
export async function makeDir(request: MakeDirRequest, caller: Caller): Promise<MessageInitShape<typeof MakeDirResponseSchema>> {
  const path = resolvePath(request.path, caller)
  await checkFree(path)
  await ensureDirs(path, caller.user)
  return { entry: await getEntry(path, caller.owners) }
}

async function checkFree(path: string): Promise<void> {
  const stats = await stat(path).catch((error: unknown) => {
    if (errnoCode(error) === 'ENOENT') return undefined
    throw new AppError('internal', `error getting file info: ${failedCall('stat', path, error)}`, { cause: error })
  })
  if (stats === undefined) return
  if (stats.isDirectory()) throw new AppError('already_exists', `directory already exists: ${path}`)
  throw new AppError('invalid_argument', `path already exists but it is not a directory: ${path}`)
}
