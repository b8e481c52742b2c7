import { chmodSync, chownSync, mkdirSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'
import { getUser } from './accounts/image-accounts.ts'
import { at, type Image } from './image.ts'

export interface MakeDirectoryRequest {
  readonly path: string
  readonly user: string
}

export interface OwnerIds {
  readonly uid: number
  readonly gid: number
}

const MODE = 0o755

/** The step WORKDIR (control-plane.md 11.4). */
export function makeDirectory(image: Image, { path, user }: MakeDirectoryRequest): void {
  if (!path.startsWith('/')) throw new AppError('invalid_argument', `'${path}' is no absolute path`)
  ensureDirectory(image, path, getUser(image, user))
}

/**
 * Creates the missing levels of an absolute path, owned by `owner`. Existing levels keep owner and mode, and may be links.
 *
 * @throws AppError `failed_precondition` if a level is not a directory
 */
export function ensureDirectory(image: Image, path: string, { uid, gid }: OwnerIds): void {
  const missing: string[] = []
  for (let level = posix.normalize(path); ; level = posix.dirname(level)) {
    const entry = statSync(at(image, level), { throwIfNoEntry: false })
    if (entry?.isDirectory() === true) break
    if (entry !== undefined) throw new AppError('failed_precondition', `'${level}' is not a directory`)
    missing.push(level)
  }
  for (const level of missing.toReversed()) {
    const directory = at(image, level)
    mkdirSync(directory)
    chmodSync(directory, MODE)
    chownSync(directory, uid, gid)
  }
}
