import { close, closeSync, constants, fchown, fchownSync, fstatSync, ftruncate, open, writev } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { chown } from 'node:fs/promises'
import { promisify } from 'node:util'
import { AppError } from '@sandyard/kit/errors/app-error'
import { openIfCached, statCached } from '../sys/cached-stat.ts'
import { errnoCode, failedCall } from '../sys/errno-text.ts'
import type { Owner } from '../users/ensure-dirs.ts'
import { pathArgument } from '../users/path-bytes.ts'
import { parentDirectory } from '../users/path-parts.ts'

const openAsync = promisify(open)
const closeAsync = promisify(close)
const fchownAsync = promisify(fchown)
const ftruncateAsync = promisify(ftruncate)
const writevAsync = promisify(writev)

/** Non-blocking, so no open can block a thread of the pool; it has no effect on regular files. */
const OPEN_FLAGS = constants.O_WRONLY | constants.O_NONBLOCK
const CREATE_FLAGS = OPEN_FLAGS | constants.O_CREAT | constants.O_TRUNC
const NEW_FILE_MODE = 0o666
/** Truncating a larger file may take long. */
const QUICKLY_TRUNCATED_BYTES = 1024n * 1024n

interface Target {
  readonly owner: Owner
  readonly bytes?: number | undefined
}

/**
 * A file that an upload writes: owned by the user, and not longer than what is to be written (envd.md 5.7, steps 3 to 6). Calls that take microseconds on a local file
 * system are synchronous: a round trip to the thread pool costs a small upload more than the call itself.
 */
export class TargetFile {
  readonly fd: number
  readonly #isLocal: boolean
  readonly #path: string

  private constructor(path: string, fd: number, isLocal: boolean) {
    this.#path = path
    this.fd = fd
    this.#isLocal = isLocal
  }

  /**
   * Watchers see a new owner, then a file without the old content that would remain.
   *
   * @param existing stats of the path's target from just now; undefined if only its directory exists
   * @param bytes the length of the new content, if it is known. A file is not emptied just before it is filled: ext4 writes a file that was
   * emptied to the disk when it is closed, and the next truncation waits for the disk
   * @throws AppError with the texts of envd.md 5.7
   */
  static async open(path: string, existing: BigIntStats | undefined, { owner, bytes }: Target): Promise<TargetFile> {
    if (existing === undefined) return TargetFile.#create(path, owner)
    return (await TargetFile.#takeOver(path, existing, { owner, bytes })) ?? TargetFile.#overwrite(path, owner)
  }

  static async #create(path: string, owner: Owner): Promise<TargetFile> {
    const file = new TargetFile(path, await openTarget(path), isSurelyLocal(parentDirectory(path)))
    try {
      if (file.#isLocal) fchownSync(file.fd, owner.uid, owner.gid)
      else await fchownAsync(file.fd, owner.uid, owner.gid)
      return file
    } catch (error) {
      await file.close()
      throw ownerFailure(path, error)
    }
  }

  static async #overwrite(path: string, owner: Owner): Promise<TargetFile> {
    await chown(pathArgument(path), owner.uid, owner.gid).catch((error: unknown) => {
      throw ownerFailure(path, error)
    })
    return new TargetFile(path, await openTarget(path), false)
  }

  /** For a small file on a local file system. Undefined otherwise and on failure: the asynchronous way then reports the error. */
  static async #takeOver(path: string, existing: BigIntStats, { owner, bytes = 0 }: Target): Promise<TargetFile | undefined> {
    if (!existing.isFile() || existing.size > QUICKLY_TRUNCATED_BYTES) return undefined
    const fd = await openLocal(path, existing)
    if (fd === undefined) return undefined
    try {
      const { size } = fstatSync(fd, { bigint: true })
      if (size <= QUICKLY_TRUNCATED_BYTES) {
        fchownSync(fd, owner.uid, owner.gid)
        // Pages of the file that are on their way to the disk make this wait for it.
        if (size > bytes) await ftruncateAsync(fd, bytes)
        return new TargetFile(path, fd, true)
      }
    } catch {
      // The asynchronous way reports it.
    }
    closeSync(fd)
    return undefined
  }

  /** Best effort, after a failed write. */
  async truncate(bytes: number): Promise<void> {
    await ftruncateAsync(this.fd, bytes).catch(() => undefined)
  }

  async writev(chunks: readonly Buffer[]): Promise<{ bytesWritten: number }> {
    return writevAsync(this.fd, chunks)
  }

  /**
   * Some file systems report a full disk only here. The close must be complete before the answer: the file may be executed next.
   *
   * @throws AppError `internal`
   */
  async close(): Promise<void> {
    try {
      if (this.#isLocal) closeSync(this.fd)
      else await closeAsync(this.fd)
    } catch (error) {
      throw new AppError('internal', `error writing file: ${failedCall('close', this.#path, error)}`, { cause: error })
    }
  }
}

/**
 * Opening for writing first brings a file up from a lower layer of an overlay, which may take long. A file that has changed since this daemon
 * started is in the upper layer.
 */
async function openLocal(path: string, existing: BigIntStats): Promise<number | undefined> {
  const fd = Number(existing.ctimeMs) > performance.timeOrigin ? openIfCached(pathArgument(path), OPEN_FLAGS) : undefined
  if (fd !== undefined || !isSurelyLocal(path)) return fd
  return openAsync(pathArgument(path), OPEN_FLAGS).catch(() => undefined)
}

function isSurelyLocal(path: string): boolean {
  const stats = statCached(pathArgument(path), { follow: true })
  return stats !== undefined && !(stats instanceof Error)
}

async function openTarget(path: string): Promise<number> {
  try {
    return await openAsync(pathArgument(path), CREATE_FLAGS, NEW_FILE_MODE)
  } catch (error) {
    const text = failedCall('open', path, error)
    if (isOutOfSpace(error)) throw new AppError('insufficient_storage', `not enough inodes available: ${text}`, { cause: error })
    throw new AppError('internal', `error opening file: ${text}`, { cause: error })
  }
}

function ownerFailure(path: string, error: unknown): AppError {
  return new AppError('internal', `error changing file ownership: ${failedCall('chown', path, error)}`, { cause: error })
}

export function isOutOfSpace(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(errnoCode(error))
}
