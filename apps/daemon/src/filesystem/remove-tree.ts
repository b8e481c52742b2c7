import { constants } from 'node:fs'
import { open, opendir, rmdir, unlink } from 'node:fs/promises'
import { errnoCode } from '../sys/errno-text.ts'
import { childPath, decodeLatin1, pathArgument } from '../users/path-bytes.ts'
import { mapConcurrently } from './map-concurrently.ts'

/** Directory entries in memory at once: memory is bounded for directories of any size. */
const BATCH = 512
const UNLINKS_AT_ONCE = 8

/** Bytes. A call takes up to 4,096 including name and NUL (linux: PATH_MAX), and walks the whole path each time. */
const LONGEST_DIRECTORY_PATH = 1024
/** Opens a directory without reading it (linux: `fcntl.h`); Node does not name the first. */
const PLACE_FLAGS = 0o10000000 | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** How often a directory is emptied again if another process keeps filling it. */
const ATTEMPTS = 16

type EmptyDirectory = (path: string) => Promise<void>

/** An entry could not be removed; `cause` is the system error. Other parts of the tree may have been removed. */
export class RemovalFailure extends Error {
  override readonly name = 'RemovalFailure'
  readonly path: string

  constructor(path: string, cause: unknown) {
    super('could not remove', { cause })
    this.path = path
  }
}

/**
 * Removes the entry at a path, without a trailing slash, and its subtree. Links are removed, never followed, below the path. A missing
 * entry counts as removed.
 *
 * @param emptyDeep - empties a directory whose path is long; the default needs /proc
 * @throws RemovalFailure
 */
export async function removeTree(path: string, emptyDeep: EmptyDirectory = emptyByDescriptor): Promise<void> {
  if (await unlinked(path)) return
  for (let attempt = 1; ; attempt++) {
    await (Buffer.byteLength(path) <= LONGEST_DIRECTORY_PATH ? removeEntries(path, emptyDeep) : emptyDeep(path))
    try {
      await rmdir(pathArgument(path))
      return
    } catch (error) {
      if (errnoCode(error) === 'ENOENT') return
      if (errnoCode(error) !== 'ENOTEMPTY' || attempt === ATTEMPTS) throw new RemovalFailure(path, error)
    }
  }
}

/** Removes an entry that is not a directory. Missing parents mean that there is nothing to remove. */
async function unlinked(path: string): Promise<boolean> {
  try {
    await unlink(pathArgument(path))
    return true
  } catch (error) {
    const code = errnoCode(error)
    if (code === 'ENOENT') return true
    if (code === 'EISDIR') return false
    throw new RemovalFailure(path, error)
  }
}

/** A tree may be deeper than the longest path. Before that, a directory is held open and addressed by its descriptor. */
async function emptyByDescriptor(path: string): Promise<void> {
  const place = await open(pathArgument(path), PLACE_FLAGS).catch((error: unknown) => {
    if (errnoCode(error) !== 'ENOENT') throw new RemovalFailure(path, error)
  })
  if (place === undefined) return undefined
  const shortPath = `/proc/self/fd/${place.fd}`
  try {
    return await removeEntries(shortPath, emptyByDescriptor)
  } catch (error) {
    if (!(error instanceof RemovalFailure)) throw error
    throw new RemovalFailure(path + error.path.slice(shortPath.length), error.cause)
  } finally {
    await place.close()
  }
}

async function removeEntries(path: string, emptyDeep: EmptyDirectory): Promise<void> {
  try {
    const directory = await opendir(pathArgument(path), { encoding: 'latin1', bufferSize: BATCH })
    let batch: string[] = []
    for await (const entry of directory) {
      batch.push(childPath(path, decodeLatin1(entry.name)))
      if (batch.length < BATCH) continue
      await removeBatch(batch, emptyDeep)
      batch = []
    }
    await removeBatch(batch, emptyDeep)
  } catch (error) {
    if (error instanceof RemovalFailure) throw error
    if (errnoCode(error) !== 'ENOENT') throw new RemovalFailure(path, error)
  }
}

/** Subdirectories one at a time, so that few directories are open at once. */
async function removeBatch(paths: readonly string[], emptyDeep: EmptyDirectory): Promise<void> {
  const gone = await mapConcurrently(paths, UNLINKS_AT_ONCE, unlinked)
  for (const [index, path] of paths.entries()) if (gone[index] === false) await removeTree(path, emptyDeep)
}
