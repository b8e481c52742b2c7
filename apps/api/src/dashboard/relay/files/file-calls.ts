import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { MAX_DIR_ENTRIES, MAX_PATH_BYTES } from '@sandyard/dashboard-contract/limits'
import type { FileEntry, Listing } from '@sandyard/dashboard-contract/files'
import type { EntryInfo } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import type { Daemon } from '../../../daemon/daemon.ts'
import { callDaemon } from '../call-daemon.ts'

/** @throws AppError `invalid_argument`: the schema counts characters */
export function checkPath(path: string): string {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw new AppError('invalid_argument', `A path has at most ${MAX_PATH_BYTES} bytes`)
  return path
}

/** @throws AppError `not_found` */
export async function statFile(daemon: Daemon, path: string, signal: AbortSignal): Promise<FileEntry> {
  const { entry } = await callDaemon(daemon, { signal }, ({ files }, options) => files.stat({ path: checkPath(path) }, options))
  return toEntry(entry)
}

export async function findFile(daemon: Daemon, path: string, signal: AbortSignal): Promise<FileEntry | undefined> {
  try {
    return await statFile(daemon, path, signal)
  } catch (err) {
    if (isAppError(err, 'not_found')) return undefined
    throw err
  }
}

/** @throws AppError `not_found`, `invalid_argument` for a file */
export async function listFolder(daemon: Daemon, path: string, signal: AbortSignal): Promise<Listing> {
  const { entries } = await callDaemon(daemon, { signal }, ({ files }, options) =>
    files.listDir({ path: checkPath(path), depth: 1 }, options),
  )
  const { toFileEntry } = await import('./file-entry.ts')
  return { path, entries: entries.slice(0, MAX_DIR_ENTRIES).map(toFileEntry), isCut: entries.length > MAX_DIR_ENTRIES }
}

/** @throws AppError `conflict` when it exists */
export async function makeFolder(daemon: Daemon, path: string, signal: AbortSignal): Promise<FileEntry> {
  const { entry } = await callDaemon(daemon, { signal }, ({ files }, options) => files.makeDir({ path: checkPath(path) }, options))
  return toEntry(entry)
}

/** @throws AppError `conflict` when the target exists */
export async function moveFile(
  daemon: Daemon,
  { from, to }: { readonly from: string; readonly to: string },
  signal: AbortSignal,
): Promise<FileEntry> {
  if ((await findFile(daemon, to, signal)) !== undefined) throw new AppError('conflict', 'There is something with this name already')
  const { entry } = await callDaemon(daemon, { signal }, ({ files }, options) =>
    files.move({ source: checkPath(from), destination: checkPath(to) }, options),
  )
  return toEntry(entry)
}

/** A folder with all that is in it. @throws AppError `not_found`, `invalid_argument` for the root */
export async function removeFile(daemon: Daemon, path: string, signal: AbortSignal): Promise<void> {
  if (/^[/.]*$/.test(path)) throw new AppError('invalid_argument', 'The root folder cannot be removed')
  // The daemon removes what is absent with success.
  await statFile(daemon, path, signal)
  await callDaemon(daemon, { signal }, ({ files }, options) => files.remove({ path }, options))
}

async function toEntry(entry: EntryInfo | undefined): Promise<FileEntry> {
  if (entry === undefined) throw new AppError('bad_gateway', 'The sandbox has answered without an entry')
  // Needs the libraries that the call has loaded (load-daemon-rpc.ts).
  const { toFileEntry } = await import('./file-entry.ts')
  return toFileEntry(entry)
}
