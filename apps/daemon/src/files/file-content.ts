import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { pathArgument } from '../users/path-bytes.ts'
import { SNIFFED_BYTES } from './sniff-content-type.ts'

/** Files up to this size are read before the answer begins: one read, one write, and a size that is surely right. */
const WHOLE_BYTES = 64 * 1024

/** A file that is open for a download. Its bytes come from the open file, whatever happens to the path meanwhile. */
export class FileContent implements AsyncDisposable {
  /** Modification time in whole seconds; undefined for the epoch, which stands for none. */
  readonly mtimeSeconds: number | undefined
  /** The first bytes, at least as many as tell the type; everything if `size` is no more. */
  readonly start: Buffer
  /** Undefined where only reading to the end will tell, as in `/proc`. */
  readonly size: number | undefined
  readonly #handle: FileHandle

  private constructor(handle: FileHandle, stats: BigIntStats, read: { readonly start: Buffer; readonly size: number | undefined }) {
    this.#handle = handle
    this.mtimeSeconds = stats.mtimeNs === 0n ? undefined : Math.floor(Number(stats.mtimeMs) / 1000)
    this.start = read.start
    this.size = read.size
  }

  /**
   * @param stats of the path, from just now: what the file has become since shows in what can be read
   * @throws the system error of open or read
   */
  static async open(path: string, stats: BigIntStats): Promise<FileContent> {
    // Non-blocking, so that a FIFO without a writer cannot hold a thread of the pool; regular files do not care.
    const handle = await open(pathArgument(path), constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const content = new FileContent(handle, stats, await readStart(handle, stats))
      // Nothing is left to be read, so nobody need wait until it is closed.
      if (content.isWhole) void content[Symbol.asyncDispose]()
      return content
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** Whether {@link start} is everything. */
  get isWhole(): boolean {
    return this.size === this.start.length
  }

  /** Reads into a buffer from a position, or on from the last read where the size is not known. 0 is the end. */
  async readInto(buffer: Buffer, position: number): Promise<number> {
    const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, this.size === undefined ? null : position)
    return bytesRead
  }

  /** Closes the file, after what is being read; again does nothing. A failure loses nothing of a file that is only read. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close().catch(() => undefined)
  }
}

/** The kernel's pseudo-files announce 0 bytes, or a page, whatever they hold: sizes that small are found out by reading. */
async function readStart(handle: FileHandle, stats: BigIntStats): Promise<{ start: Buffer; size: number | undefined }> {
  const announced = stats.isFile() ? Number(stats.size) : 0
  if (announced > WHOLE_BYTES) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(SNIFFED_BYTES), 0, SNIFFED_BYTES, 0)
    return { start: buffer.subarray(0, bytesRead), size: announced }
  }
  // One byte more than announced, so that the read which reaches the end shows it.
  const buffer = Buffer.allocUnsafe(announced === 0 ? WHOLE_BYTES : announced + 1)
  let filled = 0
  do {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, null)
    if (bytesRead === 0) break
    filled += bytesRead
  } while (filled < buffer.length && filled !== announced)
  return { start: buffer.subarray(0, filled), size: filled < buffer.length ? filled : undefined }
}
