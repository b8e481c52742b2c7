import { constants } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { mapConcurrently } from '../filesystem/map-concurrently.ts'
import { lookAt } from '../sys/cached-stat.ts'
import { isSameFile, type Source } from './find-sources.ts'

/** Opens a path without access to its content (linux: `fcntl.h`); Node has no constant for it. */
const O_PATH = 0o10000000
/** Files of at least this size are held open over their removal. */
const HELD_BYTES = 1024 * 1024
/** How many removed files may be held open. */
const MAX_HELD = 128
/** Short calls use all threads of the pool, closing large files half of them. */
const [WIDTH, CLOSE_WIDTH] = [4, 2]

/**
 * Removes the sources after the destination is complete; of a link only the link. Failures are ignored (envd.md 5.8). A file that has
 * replaced a source since the checks is kept: it may be the result of another compose.
 *
 * Freeing the blocks of a large file takes nearly as long as copying it, and happens when its last descriptor is closed. So the paths are
 * removed when this returns, and the space is freed in the background.
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
  if (isSameFile(await lookAt(path, { follow: false }), entry)) await unlink(path)
}
