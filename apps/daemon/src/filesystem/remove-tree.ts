import { opendir, rmdir, unlink } from 'node:fs/promises'
import { errnoCode } from '../sys/errno-text.ts'
import { type BytePath, childPath, toArgument } from './byte-path.ts'
import { mapConcurrently } from './map-concurrently.ts'

/** Directory entries that are held at once: a directory of any size is emptied in flat memory. */
const BATCH = 512
const UNLINKS_AT_ONCE = 8

/** How often a directory is emptied again that somebody fills meanwhile. */
const ATTEMPTS = 16

/** What could not be removed; `cause` is the system's error. Other parts of the tree may be gone. */
export class RemovalFailure extends Error {
  override readonly name = 'RemovalFailure'
  readonly path: BytePath

  constructor(path: BytePath, cause: unknown) {
    super('could not remove', { cause })
    this.path = path
  }
}

/**
 * Removes whatever is at a path, without a trailing slash, and all below it. Links are removed and never followed below the path.
 * What is not there, or vanishes meanwhile, counts as removed.
 *
 * @throws RemovalFailure
 */
export async function removeTree(path: BytePath): Promise<void> {
  if (await unlinked(path)) return
  for (let attempt = 1; ; attempt++) {
    await emptyDirectory(path)
    try {
      await rmdir(toArgument(path))
      return
    } catch (error) {
      if (errnoCode(error) === 'ENOENT') return
      if (errnoCode(error) !== 'ENOTEMPTY' || attempt === ATTEMPTS) throw new RemovalFailure(path, error)
    }
  }
}

/** Removes what is no directory. A path that leads through missing components names nothing. */
async function unlinked(path: BytePath): Promise<boolean> {
  try {
    await unlink(toArgument(path))
    return true
  } catch (error) {
    const code = errnoCode(error)
    if (code === 'ENOENT') return true
    if (code === 'EISDIR') return false
    throw new RemovalFailure(path, error)
  }
}

async function emptyDirectory(path: BytePath): Promise<void> {
  try {
    const directory = await opendir(toArgument(path), { encoding: 'latin1', bufferSize: BATCH })
    let batch: BytePath[] = []
    for await (const entry of directory) {
      batch.push(childPath(path, entry.name))
      if (batch.length < BATCH) continue
      await removeBatch(batch)
      batch = []
    }
    await removeBatch(batch)
  } catch (error) {
    if (error instanceof RemovalFailure) throw error
    if (errnoCode(error) !== 'ENOENT') throw new RemovalFailure(path, error)
  }
}

/** Subdirectories one after the other, so that a deep and wide tree holds one open directory for each level and no more. */
async function removeBatch(paths: readonly BytePath[]): Promise<void> {
  const gone = await mapConcurrently(paths, UNLINKS_AT_ONCE, unlinked)
  for (const [index, path] of paths.entries()) if (gone[index] === false) await removeTree(path)
}
