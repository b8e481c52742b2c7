import { constants, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { SNIFFED_BYTES } from './sniff-content-type.ts'

/** Files up to this size are read before the answer begins: one read, one write, and a size that is surely right. */
const WHOLE_BYTES = 64 * 1024
const CHUNK_BYTES = 256 * 1024

/** A file that is open for a download. Its bytes come from the open file, whatever happens to the path meanwhile. */
export class FileContent implements AsyncDisposable {
  /** Modification time in whole seconds; undefined for the epoch, which stands for none. */
  readonly mtimeSeconds: number | undefined
  /** The first bytes, at least as many as tell the type; everything if `size` is no more. */
  readonly start: Buffer
  /** Undefined where only reading to the end will tell, as in `/proc`. */
  readonly size: number | undefined
  readonly #handle: FileHandle

  private constructor(handle: FileHandle, stats: Stats, read: { readonly start: Buffer; readonly size: number | undefined }) {
    this.#handle = handle
    this.mtimeSeconds = stats.mtimeMs === 0 ? undefined : Math.floor(stats.mtimeMs / 1000)
    this.start = read.start
    this.size = read.size
  }

  /**
   * @param stats of the path, from just now: what the file has become since shows in what can be read
   * @throws the system error of open or read
   */
  static async open(path: string, stats: Stats): Promise<FileContent> {
    // Non-blocking, so that a FIFO without a writer cannot hold a thread of the pool; regular files do not care.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
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

  /**
   * `length` bytes from `start`, of a file with a known size.
   *
   * @throws Error when the file has become shorter: its announced length can no longer be kept
   */
  async *range(start: number, length: number): AsyncGenerator<Buffer> {
    if (this.isWhole) {
      if (length > 0) yield this.start.subarray(start, start + length)
      return
    }
    for (let at = start; at < start + length;) {
      const chunk = await this.#readAt(Math.min(CHUNK_BYTES, start + length - at), at)
      if (chunk.length === 0) throw new Error('the file became shorter while it was sent')
      yield chunk
      at += chunk.length
    }
  }

  /** Everything to the end, wherever that turns out to be. */
  async *toEnd(): AsyncGenerator<Buffer> {
    if (this.start.length > 0) yield this.start
    if (this.isWhole) return
    for (let at = this.start.length; ;) {
      const chunk = await this.#readAt(CHUNK_BYTES, this.size === undefined ? null : at)
      if (chunk.length === 0) return
      yield chunk
      at += chunk.length
    }
  }

  /** Closes the file, after the chunk that is being read; again does nothing. A failure loses nothing of a file that is only read. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close().catch(() => undefined)
  }

  async #readAt(length: number, position: number | null): Promise<Buffer> {
    const buffer = Buffer.allocUnsafeSlow(length)
    const { bytesRead } = await this.#handle.read(buffer, 0, length, position)
    return buffer.subarray(0, bytesRead)
  }
}

/** The kernel's pseudo-files announce 0 bytes, or a page, whatever they hold: sizes that small are found out by reading. */
async function readStart(handle: FileHandle, stats: Stats): Promise<{ start: Buffer; size: number | undefined }> {
  const announced = stats.isFile() ? stats.size : 0
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
