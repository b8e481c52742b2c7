import { type BigIntStats, closeSync, constants, readSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { isContentCached } from '../sys/cached-content.ts'
import { openIfCached } from '../sys/cached-stat.ts'
import { pathArgument } from '../users/path-bytes.ts'
import { SNIFFED_BYTES } from './sniff-content-type.ts'

/** Files up to this size are read before the headers are sent: one read, one write, and the announced size is always correct. */
const WHOLE_BYTES = 64 * 1024

/** Non-blocking, so a FIFO without a writer cannot block a thread; it has no effect on regular files. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK

/** The file could not be read to its end. `cause` is the system error; a file that was truncated has none. */
export class ReadFailure extends Error {
  override readonly name = 'ReadFailure'
}

/** A file that is open for a download. A rename or removal of the path does not affect it. */
export class FileContent implements AsyncDisposable {
  /** Modification time in whole seconds; undefined for the epoch, which counts as unknown. */
  readonly mtimeSeconds: number | undefined
  /** The first bytes: enough to detect the type, or the whole file if `size` is equal. */
  readonly start: Buffer
  /** Undefined if only reading to the end shows it, as in `/proc`. */
  readonly size: number | undefined
  /** Undefined if the whole file was read from memory. */
  readonly #handle: FileHandle | undefined

  private constructor(
    handle: FileHandle | undefined,
    stats: BigIntStats,
    read: { readonly start: Buffer; readonly size: number | undefined },
  ) {
    this.#handle = handle
    this.mtimeSeconds = stats.mtimeNs === 0n ? undefined : Math.floor(Number(stats.mtimeMs) / 1000)
    this.start = read.start
    this.size = read.size
  }

  /**
   * @param found stats of the path from just now. The opened file may be another one that has replaced it since
   * @throws the system error of open or read
   */
  static async open(path: string, found: BigIntStats): Promise<FileContent> {
    const cached = readIfCached(path, announcedBytes(found))
    if (cached !== undefined) return new FileContent(undefined, found, { start: cached, size: cached.length })
    const handle = await open(pathArgument(path), OPEN_FLAGS)
    try {
      // The size of a small file comes from reading it, so stats that are a moment old are good enough.
      const stats = announcedBytes(found) > WHOLE_BYTES ? await handle.stat({ bigint: true }) : found
      const content = new FileContent(handle, stats, await readStart(handle, announcedBytes(stats)))
      // Everything has been read: nothing has to wait for the close.
      if (content.isWhole) void content[Symbol.asyncDispose]()
      return content
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** Whether {@link start} is the whole file. */
  get isWhole(): boolean {
    return this.size === this.start.length
  }

  /**
   * Reads into a buffer from a position. Continues after the last read if the size is unknown. 0 means the end.
   *
   * @throws ReadFailure
   */
  async readInto(buffer: Buffer, position: number): Promise<number> {
    if (this.#handle === undefined) return this.start.copy(buffer, 0, position)
    try {
      const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, this.size === undefined ? null : position)
      return bytesRead
    } catch (error) {
      throw new ReadFailure('reading failed', { cause: error })
    }
  }

  /** Up to that many of the first bytes. Does not affect {@link blocks}. */
  async readFirst(bytes: number): Promise<Buffer> {
    if (this.size === undefined) return this.start.subarray(0, bytes)
    const buffer = Buffer.allocUnsafe(bytes)
    return buffer.subarray(0, await this.readInto(buffer, 0))
  }

  /** The whole file in blocks of at most that many bytes. The next block reuses the buffer. */
  async *blocks(blockBytes: number): AsyncGenerator<Buffer> {
    // If the size is unknown, `start` was read sequentially and the file offset is behind it.
    let position = this.size === undefined ? this.start.length : 0
    for (let at = 0; at < position; at += blockBytes) yield this.start.subarray(at, at + blockBytes)
    const buffer = Buffer.allocUnsafeSlow(blockBytes)
    for (let bytes = 1; bytes > 0; position += bytes) {
      bytes = await this.readInto(buffer, position)
      if (bytes > 0) yield buffer.subarray(0, bytes)
    }
  }

  /** Closes the file after reads in flight. Idempotent. Errors are ignored: nothing was written. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close().catch(() => undefined)
  }
}

/**
 * The content of a small file that the kernel has in memory; undefined for any other file, also if its size has changed. Runs on the thread of
 * the event loop: it takes some microseconds, and each call on the thread pool takes more than ten times as long.
 */
function readIfCached(path: string, announced: number): Buffer | undefined {
  if (announced === 0 || announced > WHOLE_BYTES) return undefined
  const fd = openIfCached(pathArgument(path), OPEN_FLAGS)
  if (fd === undefined) return undefined
  try {
    if (!isContentCached(fd, announced)) return undefined
    const buffer = Buffer.allocUnsafe(announced + 1)
    return readSync(fd, buffer, 0, buffer.length, 0) === announced ? buffer.subarray(0, announced) : undefined
  } catch {
    return undefined
  } finally {
    closeSync(fd)
  }
}

/** Pseudo-files announce 0 bytes or one page whatever they contain, so small sizes are verified by reading. */
async function readStart(handle: FileHandle, announced: number): Promise<{ start: Buffer; size: number | undefined }> {
  if (announced > WHOLE_BYTES) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(SNIFFED_BYTES), 0, SNIFFED_BYTES, 0)
    return { start: buffer.subarray(0, bytesRead), size: announced }
  }
  // One byte more than announced, so one read also detects the end.
  const buffer = Buffer.allocUnsafe(announced === 0 ? WHOLE_BYTES : announced + 1)
  let filled = 0
  do {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, null)
    if (bytesRead === 0) break
    filled += bytesRead
  } while (filled < buffer.length && filled !== announced)
  return { start: buffer.subarray(0, filled), size: filled < buffer.length ? filled : undefined }
}

function announcedBytes(stats: BigIntStats): number {
  return stats.isFile() ? Number(stats.size) : 0
}
