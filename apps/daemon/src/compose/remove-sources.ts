import { lstat, unlink } from 'node:fs/promises'
import { mapConcurrently } from '../filesystem/map-concurrently.ts'
import { isSameFile, type Source } from './find-sources.ts'

/** Half of the thread pool: the removal of a large file takes a while. */
const WIDTH = 2

/**
 * Removes the sources of a file that stands; of a link only the link. Failures are of no matter (envd.md 5.8). What has come to stand
 * at a path since the source was found there is no source, and stays: it may be the result of another compose.
 */
export async function removeSources(sources: readonly Source[]): Promise<void> {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  await mapConcurrently([...byPath.values()], WIDTH, (source) => removeSource(source).catch(() => {}))
}

async function removeSource({ path, entry }: Source): Promise<void> {
  if (isSameFile(await lstat(path, { bigint: true }), entry)) await unlink(path)
}
