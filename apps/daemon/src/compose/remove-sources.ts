import { constants } from 'node:fs'
import { type FileHandle, lstat, open, unlink } from 'node:fs/promises'
import { mapConcurrently } from '../filesystem/map-concurrently.ts'
import { isSameFile, type Source } from './find-sources.ts'

/** Opens whatever stands at a path without touching it (linux: `fcntl.h`); Node does not name it. */
const O_PATH = 0o10000000
/** What a large file is. */
const HELD_BYTES = 1024 * 1024
/** How many removed files may be held open. */
const MAX_HELD = 128
/** As the thread pool, for what is short; half of it for what is not. */
const [WIDTH, CLOSE_WIDTH] = [4, 2]

/**
 * Removes the sources of a file that stands; of a link only the link. Failures are of no matter (envd.md 5.8). What has come to stand
 * at a path since the source was found there is no source, and stays: it may be the result of another compose.
 *
 * To give back the blocks of a large file takes nearly as long as to copy it. The system does that when nobody holds the file open any
 * more, so when this returns the paths are gone, and the space follows.
 */
export async function removeSources(sources: readonly Source[]): Promise<void> {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const held: FileHandle[] = []
  await mapConcurrently([...byPath.values()], WIDTH, async (source) => {
    const isHeld = source.size >= HELD_BYTES && held.length < MAX_HELD
    const file = isHeld ? await open(source.path, O_PATH | constants.O_NOFOLLOW).catch(() => undefined) : undefined
    if (file !== undefined) held.push(file)
    await removeSource(source).catch(() => {})
  })
  void mapConcurrently(held, CLOSE_WIDTH, (file) => file.close().catch(() => {}))
}

async function removeSource({ path, entry }: Source): Promise<void> {
  if (isSameFile(await lstat(path, { bigint: true }), entry)) await unlink(path)
}
