import { lchown, mkdir, stat } from 'node:fs/promises'
import { AppError } from '@sandyard/kit/errors/app-error'
import { lookAt } from '../sys/cached-stat.ts'
import { errnoCode, failedCall } from '../sys/errno-text.ts'
import { pathArgument } from './path-bytes.ts'
import { parentDirectory } from './path-parts.ts'

/** Who owns what an operation creates: the user and its primary group (envd.md 4.3). */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

const NEW_DIRECTORY_MODE = 0o755

/**
 * Creates the missing levels of an absolute path, owned by `owner`; existing levels keep owner and mode, and may be
 * links (envd.md 4.2). Concurrent calls for one tree all succeed.
 *
 * @returns whether anything was missing
 * @throws AppError `internal` with the text of envd.md 4.2
 */
export async function ensureDirs(path: string, owner: Owner): Promise<boolean> {
  const missing: string[] = []
  for (let level = path; !(await isDirectory(level)); level = parentDirectory(level)) missing.push(level)
  for (const level of missing.toReversed()) await createDirectory(level, owner)
  return missing.length > 0
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    if ((await lookAt(pathArgument(path), { follow: true })).isDirectory()) return true
  } catch (error) {
    // For a path below a file, mkdir of each level fails with ENOTDIR. The recursion ends at the file, and the error names it.
    if (['ENOENT', 'ENOTDIR'].includes(errnoCode(error))) return false
    throw new AppError('internal', `failed to stat directory: ${failedCall('stat', path, error)}`, { cause: error })
  }
  throw new AppError('internal', `path is a file: ${path}`)
}

async function createDirectory(path: string, owner: Owner): Promise<void> {
  const argument = pathArgument(path)
  let isNew = true
  try {
    await mkdir(argument, NEW_DIRECTORY_MODE)
  } catch (error) {
    if (errnoCode(error) !== 'EEXIST') {
      throw new AppError('internal', `failed to create directory: ${failedCall('mkdir', path, error)}`, { cause: error })
    }
    isNew = false
  }
  try {
    // Also after EEXIST, because the call that created the directory may not have changed the owner yet. Another process may have replaced
    // the directory by a link, whose target must keep its owner: lchown does not follow it.
    if (!isNew) await stat(argument)
    await lchown(argument, owner.uid, owner.gid)
  } catch (error) {
    throw new AppError('internal', `failed to chown directory: ${failedCall('chown', path, error)}`, { cause: error })
  }
}
