import type { EntryInfo, ListDirRequest } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { AppError } from '@sandyard/kit/errors/app-error'
import { readdir, stat } from 'node:fs/promises'
import { errnoCode, failedCall } from '../sys/errno-text.ts'
import type { OwnerNames } from '../users/account-database.ts'
import type { Caller } from '../users/caller.ts'
import { cleanPath } from '../users/path-parts.ts'
import { resolvePath } from '../users/resolve-path.ts'
import { childPath, decodeLatin1, pathArgument, toText } from '../users/path-bytes.ts'
import { type DescribedEntry, describeEntry } from './entry-info.ts'
import { evalSymlinks, UnresolvedPath } from './eval-symlinks.ts'
import { mapConcurrently } from './map-concurrently.ts'

/** Enough to keep the thread pool busy; more would only delay other calls. */
const ENTRIES_AT_ONCE = 8

interface Listing {
  readonly root: string
  readonly owners: OwnerNames
  readonly signal: AbortSignal
  readonly entries: EntryInfo[]
}

interface Level {
  readonly at: string
  readonly shownAs: string
  readonly depth: number
}

/**
 * ListDir (envd.md 7.4): the tree below a directory down to `depth` levels, parents before children and names in byte order. Links
 * in the requested path are followed and stay in the paths of the entries; links below it are listed, not followed.
 */
export async function listDir(request: ListDirRequest, caller: Caller, signal: AbortSignal): Promise<EntryInfo[]> {
  const path = resolvePath(request.path, caller)
  const root = await getDirectory(path)
  const listing: Listing = { root, owners: caller.owners, signal, entries: [] }
  await listLevel(listing, { at: root, shownAs: cleanPath(path), depth: Math.max(request.depth, 1) })
  return listing.entries
}

/** The directory behind a path, links resolved. */
async function getDirectory(path: string): Promise<string> {
  const root = await evalSymlinks(path).catch((error: unknown) => {
    throw unresolvable(path, error)
  })
  const stats = await stat(pathArgument(root)).catch((error: unknown) => {
    throw new AppError('not_found', `directory not found: ${failedCall('stat', toText(root), error)}`, { cause: error })
  })
  if (!stats.isDirectory()) throw new AppError('invalid_argument', `path is not a directory: ${toText(root)}`)
  return root
}

function unresolvable(path: string, error: unknown): unknown {
  if (!(error instanceof UnresolvedPath)) return error
  if (error.code === 'ENOENT') return new AppError('not_found', `path not found: ${error.message}`, { cause: error })
  if (error.code === 'ELOOP') {
    return new AppError('failed_precondition', `cyclic symlink or chain >255 links at ${JSON.stringify(path)}`, { cause: error })
  }
  return new AppError('internal', `error resolving symlink: ${error.message}`, { cause: error })
}

async function listLevel(listing: Listing, level: Level): Promise<void> {
  const names = await readNames(listing, level.at)
  const described = await mapConcurrently(names, ENTRIES_AT_ONCE, (name) => {
    listing.signal.throwIfAborted()
    return describePresent(listing, childPath(level.at, name), childPath(level.shownAs, name))
  })
  for (const [index, name] of names.entries()) {
    const entry = described[index]
    if (entry === undefined) continue
    listing.entries.push(entry.info)
    if (entry.isDirectory && level.depth > 1) {
      await listLevel(listing, { at: childPath(level.at, name), shownAs: childPath(level.shownAs, name), depth: level.depth - 1 })
    }
  }
}

async function readNames(listing: Listing, directory: string): Promise<string[]> {
  try {
    return (await readdir(pathArgument(directory), { encoding: 'latin1' })).sort().map(decodeLatin1)
  } catch (error) {
    throw readFailure(listing, failedCall('open', toText(directory), error), error)
  }
}

/** The entry; undefined if it was removed after its directory was read. */
async function describePresent(listing: Listing, at: string, shownAs: string): Promise<DescribedEntry | undefined> {
  try {
    return await describeEntry({ at, shownAs, owners: listing.owners })
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return undefined
    throw readFailure(listing, failedCall('lstat', toText(at), error), error)
  }
}

function readFailure(listing: Listing, text: string, cause: unknown): AppError {
  return new AppError('internal', `error reading directory ${toText(listing.root)}: ${text}`, { cause })
}
