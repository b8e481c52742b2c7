/**
 * Copies from file to file inside the kernel, on the thread pool. Where the file system can share blocks between files (btrfs, XFS)
 * copy_file_range(2) shares the parts that begin and end on block boundaries in both files; the end of the source may be unaligned.
 */
import { Semaphore } from '@sandyard/kit/async/semaphore'
import type { FileHandle } from 'node:fs/promises'
import { asyncCFunction, loadCLibrary } from './c-library.ts'
import { errnoCode } from './errno-text.ts'

/** Bytes of one call: large enough to make its overhead negligible, small enough for a short wait of others. */
const SHARE_BYTES = 64 * 1024 * 1024
/** Buffer size of a copy through memory, if the kernel supports no other way. */
const BUFFER_BYTES = 256 * 1024

/** Half of the thread pool: the rest is for other file operations. Concurrent copies take turns. */
const inFlight = new Semaphore(2)

/** Errors that mean that this way does not work for these two files; another way may work. */
const WAY_REFUSED: ReadonlySet<string> = new Set(['EINVAL', 'EIO', 'ENOSYS', 'ENOTSUP', 'EPERM', 'EXDEV'])

/** A copy from the position of one open file to the position of the other. Both positions advance. */
export interface FileCopy {
  readonly from: FileHandle
  readonly to: FileHandle
  /** The size that the system reports. 0 is copied to the end of the file, because files of /proc have no size. */
  readonly size: number
  /** Called before each call; an exception ends the copy. */
  readonly beforeShare: () => void
}

/** Copies at most `bytes` bytes and returns their number; 0 at the end of the source. */
type Way = (copy: FileCopy, bytes: number) => Promise<number>

const copyRange = asyncCFunction(
  'long copy_file_range(int from, void *from_offset, int to, void *to_offset, size_t bytes, unsigned int flags)',
)
const send = asyncCFunction('long sendfile(int to, int from, void *offset, size_t bytes)')
const copyFileRange: Way = ({ from, to }, bytes) => copyRange(from.fd, null, to.fd, null, bytes, 0)
const sendFile: Way = ({ from, to }, bytes) => send(to.fd, from.fd, null, bytes)

/**
 * Copies `size` bytes, or fewer if the source has become shorter.
 *
 * @throws the system error of the copy; bytes that were copied before it stay
 */
export async function copyContent(copy: FileCopy): Promise<void> {
  await loadCLibrary()
  const rest: Rest = { bytes: copy.size === 0 ? Infinity : copy.size }
  // On some file systems copy_file_range(2) returns 0 before the end of the file.
  if (copy.size > 0 && (await copyBy(copyFileRange, copy, rest)) && rest.bytes < copy.size) return
  if (!(await copyBy(sendFile, copy, rest))) await copyThroughMemory(copy, rest)
}

interface Rest {
  bytes: number
}

/** False if this way does not work for these files. Bytes that it has copied are subtracted from the rest. */
async function copyBy(way: Way, copy: FileCopy, rest: Rest): Promise<boolean> {
  while (rest.bytes > 0) {
    copy.beforeShare()
    try {
      const bytes = await inFlight.run(() => way(copy, Math.min(rest.bytes, SHARE_BYTES)))
      if (bytes === 0) break
      rest.bytes -= bytes
    } catch (error) {
      if (errnoCode(error) === 'EINTR') continue
      if (WAY_REFUSED.has(errnoCode(error))) return false
      throw error
    }
  }
  return true
}

async function copyThroughMemory({ from, to, beforeShare }: FileCopy, rest: Rest): Promise<void> {
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES)
  while (rest.bytes > 0) {
    beforeShare()
    const { bytesRead } = await from.read(buffer, 0, Math.min(rest.bytes, buffer.length))
    if (bytesRead === 0) return
    for (let written = 0; written < bytesRead;) written += (await to.write(buffer, written, bytesRead - written)).bytesWritten
    rest.bytes -= bytesRead
  }
}
