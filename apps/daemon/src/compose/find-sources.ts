import type { BigIntStats } from 'node:fs'
import { lstat, stat } from 'node:fs/promises'
import { isDestination, notRegular, sourceNotFound } from './compose-failure.ts'

/** A file as the kernel tells it from all others. Numbers of inodes may use all of their 64 bits. */
export type FileIdentity = Pick<BigIntStats, 'dev' | 'ino'>

/** A file to be composed, of which links were followed. */
export interface Source {
  /** The path as the request has it. */
  readonly given: string
  readonly path: string
  /** What stands at the path itself: the file, or a link to it. */
  readonly entry: FileIdentity
  /** Bytes, at that time. */
  readonly size: bigint
}

export interface SourceChecks {
  /** Resolved. */
  readonly destination: string
  readonly resolve: (path: string) => string
}

/** How many sources are looked at in the same moment: more than the thread pool is wide. */
const BATCH = 32

/**
 * Finds the files to be composed, in the order of the request, and changes nothing.
 *
 * @throws AppError for the first path that is at fault, with the texts of envd.md 5.8, checks 6 to 9. A file that is the destination
 * under another name is refused like the destination itself: it could be lost as its own source
 */
export async function findSources(paths: readonly string[], checks: SourceChecks): Promise<Source[]> {
  const target = await stat(checks.destination, { bigint: true }).catch(() => undefined)
  const sources: Source[] = []
  for (let start = 0; start < paths.length; start += BATCH) {
    const batch = paths.slice(start, start + BATCH)
    const outcomes = await Promise.allSettled(batch.map((given) => findSource(given, target, checks)))
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') throw outcome.reason
      sources.push(outcome.value)
    }
  }
  return sources
}

/** Whether two looks at the file system saw one file. */
export function isSameFile(one: FileIdentity, other: FileIdentity): boolean {
  return one.dev === other.dev && one.ino === other.ino
}

async function findSource(given: string, target: FileIdentity | undefined, { destination, resolve }: SourceChecks): Promise<Source> {
  const path = resolve(given)
  if (path === destination) throw isDestination(given)
  const { entry, file } = await look(path).catch((error: unknown) => {
    throw sourceNotFound(given, error)
  })
  if (!file.isFile()) throw notRegular(given)
  if (target !== undefined && isSameFile(file, target)) throw isDestination(given)
  return { given, path, entry, size: file.size }
}

async function look(path: string): Promise<{ readonly entry: BigIntStats; readonly file: BigIntStats }> {
  const entry = await lstat(path, { bigint: true })
  return { entry, file: entry.isSymbolicLink() ? await stat(path, { bigint: true }) : entry }
}
