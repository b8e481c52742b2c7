import { AppError } from '@sandyard/kit/errors/app-error'
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, rename, unlink } from 'node:fs/promises'
import { failedCall } from '../sys/errno-text.ts'
import { ensureDirs, type Owner } from '../users/ensure-dirs.ts'
import { parentDirectory } from '../users/path-parts.ts'
import { appendSources } from './append-sources.ts'
import { internal, isOutOfSpace, outOfSpace } from './compose-failure.ts'
import type { Source } from './find-sources.ts'
import { createTempPath } from './temp-path.ts'

export interface ComposeOptions {
  readonly owner: Owner
  /** Aborts when the daemon is about to exit. */
  readonly shutdown: AbortSignal
}

const TEMP_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
const NEW_FILE_MODE = 0o666

/**
 * Writes the sources into a temporary file and renames it over the destination (envd.md 5.8). A failure leaves no more than new parent
 * directories; a kill may leave the temporary file too. The sources are not removed here.
 *
 * @throws AppError with the texts of envd.md 5.8, checks 10 to 16
 */
export async function writeComposed(destination: string, sources: readonly Source[], options: ComposeOptions): Promise<void> {
  await ensureParent(destination, options.owner)
  const temp = createTempPath(destination)
  const failedRename = (error: unknown) => internal('error finalizing compose', failedCall('rename', [temp, destination], error), error)
  // rename(2) refuses a directory too, but only after everything was copied.
  if (await isDirectory(destination)) throw failedRename(Object.assign(new Error(), { code: 'EEXIST' }))
  const file = await createTemp(temp)
  try {
    await fill(file, { temp, sources, ...options })
    await rename(temp, destination).catch((error: unknown) => {
      throw failedRename(error)
    })
  } catch (error) {
    await unlink(temp).catch(() => {})
    throw error
  }
}

interface Filling extends ComposeOptions {
  readonly temp: string
  readonly sources: readonly Source[]
}

/** Closes the file, also on failure. */
async function fill(file: FileHandle, { temp, sources, owner, shutdown }: Filling): Promise<void> {
  try {
    await file.chown(owner.uid, owner.gid).catch((error: unknown) => {
      throw internal('error changing file ownership', failedCall('chown', temp, error), error)
    })
    await appendSources(file, sources, shutdown)
  } catch (error) {
    await file.close().catch(() => {})
    throw error
  }
  // Some file systems report a full disk only here.
  await file.close().catch((error: unknown) => {
    if (isOutOfSpace(error)) throw outOfSpace(error)
    throw internal('error closing destination file', failedCall('close', temp, error), error)
  })
}

async function createTemp(temp: string): Promise<FileHandle> {
  try {
    return await open(temp, TEMP_FLAGS, NEW_FILE_MODE)
  } catch (error) {
    if (isOutOfSpace(error)) throw outOfSpace(error)
    throw internal('error creating destination file', failedCall('open', temp, error), error)
  }
}

async function ensureParent(path: string, owner: Owner): Promise<void> {
  try {
    await ensureDirs(parentDirectory(path), owner)
  } catch (error) {
    if (error instanceof AppError) throw new AppError(error.kind, `error ensuring directories: ${error.message}`, { cause: error })
    throw error
  }
}

async function isDirectory(path: string): Promise<boolean> {
  const entry = await lstat(path).catch(() => undefined)
  return entry?.isDirectory() === true
}
