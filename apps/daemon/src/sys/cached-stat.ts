/**
 * Looks at a path without ever waiting: not for a disk, and not for a mount that may be somebody else's. So it may be done on the event
 * loop's own thread, where it takes some microseconds; a visit to the thread pool costs more than ten times as much.
 */
import { type BigIntStats, closeSync, constants, fstatSync } from 'node:fs'
import { constants as os } from 'node:os'
import { systemError } from './errno-text.ts'
import { isRootLocal } from './root-file-system.ts'

/** openat2(2), which has one number on all processors. */
const SYS_OPENAT2 = 437
const AT_FDCWD = -100
const [O_PATH, O_CLOEXEC] = [0o10000000, 0o2000000]
const [RESOLVE_NO_XDEV, RESOLVE_CACHED] = [0x01n, 0x20n]
const HOW_BYTES = 24

export type CachedStats =
  /** What is there. It is on the root's file system. */
  | BigIntStats
  /** Surely nothing is there: ENOENT or ENOTDIR. */
  | NodeJS.ErrnoException
  /** It takes a real look to tell. */
  | undefined

type Open = (path: string | Buffer, how: BigUint64Array) => number
let open: { readonly now: Open; readonly errno: () => number } | undefined
let loading: Promise<unknown> | undefined

/** The state of a path as far as the kernel has it in memory, on Linux 5.12 and later; `follow` says whether a link stands for its target. */
export function statCached(path: string | Buffer, { follow }: { readonly follow: boolean }): CachedStats {
  // Loading the foreign-function library takes longer than the rest of the daemon's start, so it waits for the first use.
  if (open === undefined) return void (loading ??= load().catch(() => undefined))
  if (path.includes('\0')) return undefined
  const flags = O_PATH | O_CLOEXEC | (follow ? 0 : constants.O_NOFOLLOW)
  const fd = open.now(toC(path), BigUint64Array.of(BigInt(flags), 0n, RESOLVE_CACHED | RESOLVE_NO_XDEV))
  if (fd >= 0) return statAndClose(fd)
  const errno = open.errno()
  return errno === os.errno.ENOENT || errno === os.errno.ENOTDIR ? systemError(follow ? 'stat' : 'lstat', errno) : undefined
}

function statAndClose(fd: number): BigIntStats {
  try {
    return fstatSync(fd, { bigint: true })
  } finally {
    closeSync(fd)
  }
}

/** Where the root is on some network nothing is known to be quick. */
async function load(): Promise<void> {
  const [{ default: koffi }, isLocal] = await Promise.all([import('koffi'), isRootLocal()])
  if (!isLocal) return
  const call = koffi.load(null).func('long syscall(long number, long directory, const char *path, const void *how, size_t size)')
  open = { now: (path, how) => call(SYS_OPENAT2, AT_FDCWD, path, how, HOW_BYTES) as number, errno: () => koffi.errno() }
}

/** koffi copies strings; buffers go as they are, and their NUL must be in them. */
function toC(path: string | Buffer): string | Buffer {
  return typeof path === 'string' ? path : Buffer.concat([path, Buffer.of(0)])
}
