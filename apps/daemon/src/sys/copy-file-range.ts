/**
 * Copies from file to file inside the kernel, on the thread pool. Where the file system can share blocks between files (btrfs, XFS)
 * copy_file_range(2) does that instead, for what begins and ends on block boundaries in both files; the end of the source needs none.
 */
import { Semaphore } from '@sandyard/kit/async/semaphore'
import type Koffi from 'koffi'
import type { FileHandle } from 'node:fs/promises'
import { errnoCode, systemError } from './errno-text.ts'

/** One call's share: so large that its start costs nothing, so small that whoever waits for its end need not wait long. */
const CHUNK_BYTES = 64 * 1024 * 1024
/** What goes through memory at a time, where the kernel knows no other way. */
const BUFFER_BYTES = 256 * 1024

/** Half of the thread pool: all other file operations have the rest, and the shares of several copies take turns. */
const inFlight = new Semaphore(2)

/** Says that a way does not go between these two files, and nothing of whether another one does. */
const WAY_REFUSED: ReadonlySet<string> = new Set(['EINVAL', 'EIO', 'ENOSYS', 'ENOTSUP', 'EPERM', 'EXDEV'])

/** What is copied: the bytes from the position of one open file on, to the position of the other. Both positions move along. */
export interface FileCopy {
  readonly from: FileHandle
  readonly to: FileHandle
  /** Called before each share; what it throws ends the copy. */
  readonly beforeShare: () => void
}

/** Copies a share; 0 is the end of the source. */
type Way = (copy: FileCopy) => Promise<number>

/**
 * Copies up to the end of the source, wherever that is by then.
 *
 * @throws the system error of the copy; what was copied before it stays
 */
export async function copyToEnd(copy: FileCopy): Promise<void> {
  const { copyFileRange, sendFile } = await (bound ??= import('koffi').then(bind))
  // Files of /proc and the like have no size: for copy_file_range(2) they end where they begin.
  if ((await copyBy(copyFileRange, copy)) > 0) return
  if ((await copyBy(sendFile, copy)) >= 0) return
  await copyThroughMemory(copy)
}

/** How much went this way up to the end of the source; -1 where there is no such way. */
async function copyBy(way: Way, copy: FileCopy): Promise<number> {
  let total = 0
  for (;;) {
    copy.beforeShare()
    try {
      const bytes = await inFlight.run(() => way(copy))
      if (bytes === 0) return total
      total += bytes
    } catch (error) {
      if (errnoCode(error) === 'EINTR') continue
      if (WAY_REFUSED.has(errnoCode(error))) return -1
      throw error
    }
  }
}

async function copyThroughMemory({ from, to, beforeShare }: FileCopy): Promise<void> {
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES)
  for (;;) {
    beforeShare()
    const { bytesRead } = await from.read(buffer, 0, buffer.length)
    if (bytesRead === 0) return
    for (let written = 0; written < bytesRead;) written += (await to.write(buffer, written, bytesRead - written)).bytesWritten
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
    copyFileRange: ({ from, to }) => copyFileRange(from.fd, null, to.fd, null, CHUNK_BYTES, 0),
    sendFile: ({ from, to }) => sendFile(to.fd, from.fd, null, CHUNK_BYTES),
  }
}
