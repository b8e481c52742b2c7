import type { Stats } from 'node:fs'
import { lstat, opendir } from 'node:fs/promises'
import { mapConcurrently } from '../filesystem/map-concurrently.ts'
import { childPath, decodeLatin1, pathArgument } from '../users/path-bytes.ts'
import { errnoCode } from '../sys/errno-text.ts'

const BATCH = 512
const STATS_AT_ONCE = 16
/** Files with several names that are remembered, so that each counts once; beyond it each name counts. */
const MAX_SHARED = 500_000
/** Removed meanwhile, or deeper than the longest path. */
const PASSED_OVER = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'])

/**
 * The sizes of all files below a directory, as the engine counts them: each file once, holes included, links by their own length.
 *
 * @throws the abort reason; a system error
 */
export async function measureTree(root: string, signal: AbortSignal): Promise<number> {
  const shared = new Set<string>()
  const countOf = ({ size, nlink, dev, ino }: Stats): number => {
    if (nlink < 2 || shared.size >= MAX_SHARED) return size
    const id = `${dev}:${ino}`
    if (shared.has(id)) return 0
    shared.add(id)
    return size
  }
  let bytes = 0
  const waiting = [root]
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for await (const paths of batchesOf(directory)) {
      signal.throwIfAborted()
      const found = await mapConcurrently(paths, STATS_AT_ONCE, (path) => unlessPassedOver(lstat(pathArgument(path))))
      for (const [index, stats] of found.entries()) {
        if (stats?.isDirectory() === true) waiting.push(paths[index] ?? '')
        else if (stats !== undefined) bytes += countOf(stats)
      }
    }
  }
  return bytes
}

async function* batchesOf(directory: string): AsyncGenerator<string[]> {
  const entries = await unlessPassedOver(opendir(pathArgument(directory), { encoding: 'latin1', bufferSize: BATCH }))
  if (entries === undefined) return
  let paths: string[] = []
  for await (const { name } of entries) {
    paths.push(childPath(directory, decodeLatin1(name)))
    if (paths.length < BATCH) continue
    yield paths
    paths = []
  }
  yield paths
}

async function unlessPassedOver<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (PASSED_OVER.has(errnoCode(error))) return undefined
    throw error
  }
}
