import type { BigIntStats } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { lookAt } from '../sys/cached-stat.ts'
import { isDestination, notRegular, sourceNotFound } from './compose-failure.ts'

/** What identifies a file to the kernel. Inode numbers may use all 64 bits. */
export type FileIdentity = Pick<BigIntStats, 'dev' | 'ino'>

/** A file to be composed, with links followed. */
export interface Source {
  /** The path as the request has it. */
  readonly given: string
  readonly path: string
  /** The entry at the path itself: the file or a link to it. */
  readonly entry: FileIdentity
  /** In bytes, when it was checked. */
  readonly size: bigint
}

export interface SourceChecks {
  /** Resolved. */
  readonly destination: string
  readonly resolve: (path: string) => string
}

/** How many sources are checked at once: more than the thread pool has threads. */
const BATCH = 32

/**
 * Checks the files to be composed, in the order of the request. Changes nothing.
 *
 * @throws AppError for the first invalid path, with the texts of envd.md 5.8, checks 6 to 9. Another name of the destination is refused like
 * the destination itself, because the result would be deleted as its own source
 */
export async function findSources(paths: readonly string[], checks: SourceChecks): Promise<Source[]> {
  const target = await lookAt(checks.destination, { follow: true }).catch(() => undefined)
  const sources: Source[] = []
  for (let start = 0; start < paths.length; start += BATCH) {
    const batch = paths.slice(start, start + BATCH)
    const outcomes = await Promise.allSettled(batch.map((given) => findSource(given, target, checks)))
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') throw outcome.reason
      sources.push(outcome.value)
    }
    // All checks may have been answered from memory: let other work run.
    await turn()
  }
  return sources
}

/** Whether both are the same file. */
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
  const entry = await lookAt(path, { follow: false })
  return { entry, file: entry.isSymbolicLink() ? await lookAt(path, { follow: true }) : entry }
}
