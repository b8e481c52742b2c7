/**
 * Copies from file to file inside the kernel, on the thread pool. Where the file system can share blocks between files (btrfs, XFS)
 * copy_file_range(2) does that instead, for what begins and ends on block boundaries in both files; the end of the source needs none.
 */
import { Semaphore } from '@sandyard/kit/async/semaphore'
import type Koffi from 'koffi'
import type { FileHandle } from 'node:fs/promises'
import { errnoCode, systemError } from './errno-text.ts'

/** One call's share: so large that its start costs nothing, so small that whoever waits for its end need not wait long. */
const SHARE_BYTES = 64 * 1024 * 1024
/** What goes through memory at a time, where the kernel knows no other way. */
const BUFFER_BYTES = 256 * 1024

/** Half of the thread pool: all other file operations have the rest, and the shares of several copies take turns. */
const inFlight = new Semaphore(2)

/** Says that a way does not go between these two files, and nothing of whether another one does. */
const WAY_REFUSED: ReadonlySet<string> = new Set(['EINVAL', 'EIO', 'ENOSYS', 'ENOTSUP', 'EPERM', 'EXDEV'])

/** A copy from the position of one open file on, to the position of the other. Both positions move along. */
export interface FileCopy {
  readonly from: FileHandle
  readonly to: FileHandle
  /** How many bytes follow, as the system says; 0 may be empty, or of /proc and without a size, and is copied to its end. */
  readonly size: number
  /** Called before each share; what it throws ends the copy. */
  readonly beforeShare: () => void
}

/** Copies no more than so many bytes; 0 of them is the end of the source. */
type Way = (copy: FileCopy, bytes: number) => Promise<number>

/**
 * Copies as many bytes as the size says, or fewer if the source has become shorter.
 *
 * @throws the system error of the copy; what was copied before it stays
 */
export async function copyContent(copy: FileCopy): Promise<void> {
  const { copyFileRange, sendFile } = await (bound ??= import('koffi').then(bind))
  const rest: Rest = { bytes: copy.size === 0 ? Infinity : copy.size }
  // On some file systems copy_file_range(2) finds nothing where there is something to read.
  if (copy.size > 0 && (await copyBy(copyFileRange, copy, rest)) && rest.bytes < copy.size) return
  if (!(await copyBy(sendFile, copy, rest))) await copyThroughMemory(copy, rest)
}

interface Rest {
  bytes: number
}

/** False where there is no such way; what it has copied all the same is off the rest. */
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

let bound: Promise<ReturnType<typeof bind>> | undefined

function bind({ default: koffi }: { default: typeof Koffi }): Record<'copyFileRange' | 'sendFile', Way> {
  const libc = koffi.load(null)
  function call(definition: string): (...args: readonly unknown[]) => Promise<number> {
    const native = libc.func(definition)
    return (...args) =>
      new Promise((resolve, reject) => {
        native.async(...args, (error: Error | null, result: number) => {
          if (error !== null) reject(error)
          // koffi hands the worker thread's errno over for the length of this callback.
          else if (result < 0) reject(systemError(native.info.name, koffi.errno()))
          else resolve(result)
        })
      })
  }
  const copyFileRange = call('long copy_file_range(int from, void *from_offset, int to, void *to_offset, size_t bytes, unsigned int flags)')
  const sendFile = call('long sendfile(int to, int from, void *offset, size_t bytes)')
  return {
    copyFileRange: ({ from, to }, bytes) => copyFileRange(from.fd, null, to.fd, null, bytes, 0),
    sendFile: ({ from, to }, bytes) => sendFile(to.fd, from.fd, null, bytes),
  }
}
