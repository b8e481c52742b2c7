/**
 * Reads the state of a path without waiting for a disk or a remote mount. Therefore it may run on the thread of the event loop, where it takes
 * some microseconds; a call on the thread pool takes more than ten times as long.
 */
import { type BigIntStats, closeSync, constants, fstatSync } from 'node:fs'
import { lstat, stat, statfs } from 'node:fs/promises'
import { constants as os } from 'node:os'
import { loadOnce } from '@sandyard/kit/async/load-once'
import { cFunction, lastErrno, loadCLibrary, systemCallNumber, toCString } from './c-library.ts'
import { systemError } from './errno-text.ts'

const AT_FDCWD = -100
const [O_PATH, O_CLOEXEC] = [0o10000000, 0o2000000]
const [RESOLVE_NO_XDEV, RESOLVE_CACHED] = [0x01n, 0x20n]
const HOW_BYTES = 24
const FAILED = -1
/** statfs(2): ext, xfs, btrfs, tmpfs, overlay. If one of them has an inode in memory, it also has its extended attributes there. */
const LOCAL_TYPES = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630])

export type CachedStats =
  /** The state of an entry on the root's file system. */
  | BigIntStats
  /** ENOENT or ENOTDIR. */
  | NodeJS.ErrnoException
  /** Not in memory; the caller needs an ordinary stat. */
  | undefined

const openat2 = cFunction<[number, number, string | Buffer, BigUint64Array, number]>(
  'long syscall(long number, long directory, const char *path, const void *how, size_t size)',
)

/** Whether the root is on a local file system; undefined until the C library is loaded. */
let isLocal: boolean | undefined

const loadAhead = loadOnce(async () => {
  await loadCLibrary()
  isLocal = await isRootLocal()
})

/** The state of a path if the kernel has it in memory, on Linux 5.12 and later; with `follow` that of the target of a link. */
export function statCached(path: string | Buffer, { follow }: { readonly follow: boolean }): CachedStats {
  if (!canLookUp(path)) return undefined
  const flags = O_PATH | O_CLOEXEC | (follow ? 0 : constants.O_NOFOLLOW)
  const fd = openCached(path, BigInt(flags))
  if (fd >= 0) return statAndClose(fd)
  const errno = lastErrno()
  return errno === os.errno.ENOENT || errno === os.errno.ENOTDIR ? systemError(follow ? 'stat' : 'lstat', errno) : undefined
}

/**
 * Opens an entry of the root's file system if the kernel has the way to it in memory. The caller closes the descriptor. Pass `O_NONBLOCK`,
 * since the entry may be of any kind.
 *
 * @returns undefined on any failure; an ordinary open then tells the reason
 */
export function openIfCached(path: string | Buffer, flags: number): number | undefined {
  const fd = canLookUp(path) ? openCached(path, BigInt(flags | O_CLOEXEC)) : FAILED
  return fd < 0 ? undefined : fd
}

/**
 * The state of a path, from memory if the kernel has it there, otherwise by an ordinary stat. A caller with many paths must yield to the event
 * loop between them.
 *
 * @throws the system error of stat or lstat
 */
export async function lookAt(path: string | Buffer, { follow }: { readonly follow: boolean }): Promise<BigIntStats> {
  const cached = statCached(path, { follow })
  if (cached instanceof Error) throw cached
  return cached ?? (follow ? stat : lstat)(path, { bigint: true })
}

/** Whether the root is on a file system of this machine, which answers from memory without waiting for a remote one. */
export async function isRootLocal(): Promise<boolean> {
  return LOCAL_TYPES.has((await statfs('/')).type)
}

/** False also until the C library is loaded, which the first call begins. */
function canLookUp(path: string | Buffer): boolean {
  if (isLocal === undefined) void loadAhead().catch(() => undefined)
  return isLocal === true && !path.includes('\0')
}

function statAndClose(fd: number): BigIntStats {
  try {
    return fstatSync(fd, { bigint: true })
  } finally {
    closeSync(fd)
  }
}

function openCached(path: string | Buffer, flags: bigint): number {
  const how = BigUint64Array.of(flags, 0n, RESOLVE_CACHED | RESOLVE_NO_XDEV)
  return openat2(systemCallNumber('openat2'), AT_FDCWD, toCString(path), how, HOW_BYTES)
}
