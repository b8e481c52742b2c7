import type { Stats } from 'node:fs'
import { lstat, readlink } from 'node:fs/promises'
import { errnoCode } from '../sys/errno-text.ts'
import { decodePath, pathArgument, toText } from '../users/path-bytes.ts'
import { baseName } from '../users/path-parts.ts'
import { PERMISSION_BITS } from './content-query.ts'

/** `VolumeEntryStat` (control-plane.md 15.4). */
export interface EntryStat {
  readonly name: string
  readonly type: 'unknown' | 'file' | 'directory' | 'symlink'
  readonly path: string
  readonly size: number
  /** Permission bits. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly atime: string
  readonly mtime: string
  readonly ctime: string
  /** Of links. */
  readonly target?: string
}

/** How often an entry is read again when another process replaces a link meanwhile. */
const ATTEMPTS = 4
const FIRST_TIME = Date.parse('0000-01-01T00:00:00Z')
const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z')

/** Describes the entry at a path. A link at its end is not followed. @throws the system error */
export async function readEntry(path: string): Promise<EntryStat> {
  for (let attempt = 1; ; attempt++) {
    const stats = await lstat(pathArgument(path))
    if (!stats.isSymbolicLink()) return describe(path, stats)
    try {
      return { ...describe(path, stats), target: toText(decodePath(await readlink(pathArgument(path), 'buffer'))) }
    } catch (error) {
      if (errnoCode(error) !== 'EINVAL' || attempt === ATTEMPTS) throw error
    }
  }
}

function describe(path: string, stats: Stats): EntryStat {
  const text = toText(path)
  return {
    name: path === '/' ? '/' : baseName(text),
    type: typeOf(stats),
    path: text,
    size: stats.size,
    mode: stats.mode & PERMISSION_BITS,
    uid: stats.uid,
    gid: stats.gid,
    atime: toDateTime(stats.atimeMs),
    mtime: toDateTime(stats.mtimeMs),
    ctime: toDateTime(stats.ctimeMs),
  }
}

function typeOf(stats: Stats): EntryStat['type'] {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  return stats.isSymbolicLink() ? 'symlink' : 'unknown'
}

/** Some file systems store times that no date-time can name. */
function toDateTime(ms: number): string {
  return new Date(Math.min(Math.max(ms, FIRST_TIME), LAST_TIME)).toISOString()
}
