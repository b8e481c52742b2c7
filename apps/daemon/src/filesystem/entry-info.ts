import { create } from '@bufbuild/protobuf'
import { type EntryInfo, EntryInfoSchema, FileType } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import type { BigIntStats } from 'node:fs'
import { lstat, stat } from 'node:fs/promises'
import type { OwnerNames } from '../users/account-database.ts'
import { baseName } from '../users/path-parts.ts'
import { pathArgument, toText } from '../users/path-bytes.ts'
import { evalSymlinks } from './eval-symlinks.ts'
import { readMetadata } from './metadata.ts'
import { mayHaveAttributes } from './metadata-probe.ts'
import { permissionsText } from './permissions.ts'

const PERMISSION_BITS = 0o777n
const NANOS_PER_SECOND = 1_000_000_000n

/** An entry, and whether a listing descends into it; it does not descend into a link to a directory. */
export interface DescribedEntry {
  readonly info: EntryInfo
  readonly isDirectory: boolean
}

export interface EntryPlace {
  /** Where the entry is. */
  readonly at: string
  /** The path that the client knows it by, which may lead through links. */
  readonly shownAs: string
  readonly owners: OwnerNames
  /** Current stats of the entry itself, if they are known already. */
  readonly stats?: BigIntStats
}

/**
 * Describes the entry at a path. A link has the kind and mode of its final target (envd.md 7.2).
 *
 * @throws the system error of lstat; other details are left out if they cannot be read
 */
export async function describeEntry({ at, shownAs, owners, stats: known }: EntryPlace): Promise<DescribedEntry> {
  const argument = pathArgument(at)
  const stats = known ?? (await lstat(argument, { bigint: true }))
  const isSymlink = stats.isSymbolicLink()
  const target = isSymlink ? await resolveTarget(at) : undefined
  // A link has the metadata of its target, which may be on another file system.
  const metadata = isSymlink || (await mayHaveAttributes(argument, stats.dev)) ? await readMetadata(argument) : {}
  const kind = isSymlink ? target?.stats : stats
  const path = toText(shownAs)
  const info = create(EntryInfoSchema, {
    name: baseName(path),
    path,
    type: fileType(kind),
    size: stats.size,
    mode: Number((kind?.mode ?? 0n) & PERMISSION_BITS),
    permissions: permissionsText(Number(stats.mode)),
    owner: owners.user(Number(stats.uid)),
    group: owners.group(Number(stats.gid)),
    metadata,
    isSymlink,
  })
  if (stats.mtimeNs !== 0n) info.modifiedTime = toTimestamp(stats.mtimeNs)
  if (isSymlink) info.symlinkTarget = target === undefined ? path : toText(target.path)
  return { info, isDirectory: stats.isDirectory() }
}

/** The final target of a link; undefined if it is missing or the links are cyclic. */
async function resolveTarget(at: string): Promise<{ path: string; stats: BigIntStats } | undefined> {
  try {
    const path = await evalSymlinks(at)
    return { path, stats: await stat(pathArgument(path), { bigint: true }) }
  } catch {
    return undefined
  }
}

function fileType(stats: BigIntStats | undefined): FileType {
  if (stats?.isFile() === true) return FileType.FILE
  return stats?.isDirectory() === true ? FileType.DIRECTORY : FileType.UNSPECIFIED
}

/** Nanoseconds are added to the second, also before 1970. */
function toTimestamp(ns: bigint): { $typeName: 'google.protobuf.Timestamp'; seconds: bigint; nanos: number } {
  const nanos = ((ns % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND
  return { $typeName: 'google.protobuf.Timestamp', seconds: (ns - nanos) / NANOS_PER_SECOND, nanos: Number(nanos) }
}
