import { FileType, type EntryInfo } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import type { FileEntry } from '@sandyard/dashboard-contract/files'

const PERMISSION_BITS = 0o7777

export function toFileEntry(entry: EntryInfo): FileEntry {
  const { name, path, mode, owner, group, symlinkTarget } = entry
  const { seconds = 0n, nanos = 0 } = entry.modifiedTime ?? {}
  const atMs = Number(seconds) * 1000 + nanos / 1e6
  return {
    name,
    path,
    kind: kindOf(entry),
    bytes: Number(entry.size),
    mode: (mode & PERMISSION_BITS).toString(8).padStart(4, '0'),
    owner,
    group,
    modifiedAt: new Date(Math.abs(atMs) < MAX_TIME_MS ? atMs : 0).toISOString(),
    target: symlinkTarget ?? null,
    version: `${entry.size}-${seconds}.${nanos}`,
  }
}

/** The last instant of a Date. */
const MAX_TIME_MS = 8_640_000_000_000_000

function kindOf({ isSymlink, type }: EntryInfo): FileEntry['kind'] {
  if (isSymlink) return 'symlink'
  if (type === FileType.FILE) return 'file'
  return type === FileType.DIRECTORY ? 'directory' : 'other'
}
