import type { MessageInitShape } from '@bufbuild/protobuf'
import type { StatRequest, StatResponseSchema } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { AppError } from '@sandyard/kit/errors/app-error'
import { statCached } from '../sys/cached-stat.ts'
import { errnoCode, failedCall } from '../sys/errno-text.ts'
import type { OwnerNames } from '../users/account-database.ts'
import type { Caller } from '../users/caller.ts'
import { resolvePath } from '../users/resolve-path.ts'
import { pathArgument } from '../users/path-bytes.ts'
import { describeEntry } from './entry-info.ts'

/** Stat (envd.md 7.3): a link is described, not followed. A path below a file is `internal`, not `not_found`. */
export async function statEntry(request: StatRequest, caller: Caller): Promise<MessageInitShape<typeof StatResponseSchema>> {
  return { entry: await getEntry(resolvePath(request.path, caller), caller.owners) }
}

/**
 * The entry at a resolved path.
 *
 * @throws AppError `not_found` if there is none, `internal` if that cannot be determined
 */
export async function getEntry(path: string, owners: OwnerNames) {
  const bytes = path
  try {
    const stats = statCached(pathArgument(bytes), { follow: false })
    if (stats instanceof Error) throw stats
    return (await describeEntry({ at: bytes, shownAs: bytes, owners, ...(stats && { stats }) })).info
  } catch (error) {
    const text = failedCall('lstat', path, error)
    throw errnoCode(error) === 'ENOENT'
      ? new AppError('not_found', `file not found: ${text}`, { cause: error })
      : new AppError('internal', `error getting file info: ${text}`, { cause: error })
  }
}
