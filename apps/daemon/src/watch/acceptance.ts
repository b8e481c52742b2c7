import { stat, statfs } from 'node:fs/promises'
import { AppError } from '@sandyard/kit/errors/app-error'
import { errnoCode, errnoText, failedCall } from '../sys/errno-text.ts'
import type { Caller } from '../users/caller.ts'
import { resolvePath } from '../users/resolve-path.ts'

/** NFS, CIFS, SMB, SMB 2 and FUSE (statfs(2)): inotify does not report changes that other machines make there. */
const NETWORK_FILE_SYSTEMS: ReadonlySet<number> = new Set([0x6969, 0xff534d42, 0x517b, 0xfe534d42, 0x65735546])

/** The fields that the requests of WatchDir and CreateWatcher share. */
export interface WatchRequest {
  readonly path: string
  readonly recursive: boolean
  readonly includeEntry: boolean
  readonly allowNetworkMounts: boolean
}

export interface AcceptedDirectory {
  readonly path: string
  readonly isNetwork: boolean
}

/**
 * Resolves and checks the directory to watch, in the order of envd.md 7.8.
 *
 * @throws AppError
 */
export async function acceptDirectory(request: WatchRequest, caller: Caller): Promise<AcceptedDirectory> {
  const path = resolvePath(request.path, caller)
  const stats = await stat(path).catch((error: unknown) => {
    const text = failedCall('stat', path, error)
    throw errnoCode(error) === 'ENOENT'
      ? new AppError('not_found', `path ${path} not found: ${text}`, { cause: error })
      : new AppError('internal', `error statting path ${path}: ${text}`, { cause: error })
  })
  if (!stats.isDirectory()) throw new AppError('invalid_argument', `path ${path} not a directory: ${errnoText(NOT_A_DIRECTORY)}`)
  const { type } = await statfs(path).catch((error: unknown) => {
    throw new AppError('internal', `error checking mount status: ${errnoText(error)}`, { cause: error })
  })
  const isNetwork = NETWORK_FILE_SYSTEMS.has(type)
  if (isNetwork && !request.allowNetworkMounts) {
    throw new AppError('invalid_argument', `cannot watch path on network filesystem: ${path}`)
  }
  return { path, isNetwork }
}

const NOT_A_DIRECTORY = Object.assign(new Error(), { code: 'ENOTDIR' })
