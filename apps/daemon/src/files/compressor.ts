import pLimit from 'p-limit'
import { promisify } from 'node:util'
import { createGzip, createZstdCompress, gzip, gzipSync, zstdCompress, zstdCompressSync } from 'node:zlib'
import type { ContentCoding } from './accept-encoding.ts'

export type Compression = Exclude<ContentCoding, 'identity'>

/** Bytes that one turn compresses: a few milliseconds of CPU time. */
export const BLOCK_BYTES = 64 * 1024
/** Each holds about 200 KiB outside of the heap (measured: gzip 190, zstd 85 to 280). */
const MAX_COMPRESSORS = 32
/** Compression must save at least a tenth of the size to be used. */
const WORTH_RATIO = 0.9

/** The fastest levels: most clients have a network that is faster than a compressor. 100 is `ZSTD_c_compressionLevel`. */
const GZIP = { level: 1 }
const ZSTD = { params: { 100: 1 } }

/** Half of the thread pool, in turns of one block each: other file operations, and the other downloads, wait for a few milliseconds at most. */
const takeTurn = pLimit(2)

const gzipBytes = promisify(gzip)
const zstdBytes = promisify(zstdCompress)

/** Up to this size compression takes some microseconds on the thread of the event loop, and several times as long on the thread pool. */
const INLINE_BYTES = 4096

/** Compresses a few bytes at once. */
export async function compressWhole(bytes: Buffer, coding: Compression): Promise<Buffer> {
  if (bytes.length <= INLINE_BYTES) {
    return coding === 'gzip' ? gzipSync(bytes, { ...GZIP, chunkSize: INLINE_BYTES }) : zstdCompressSync(bytes, ZSTD)
  }
  return takeTurn(() => (coding === 'gzip' ? gzipBytes(bytes, GZIP) : zstdBytes(bytes, ZSTD)))
}

/** Whether compression makes a file that begins with this block notably smaller. zstd answers for gzip too, in a tenth of the time. */
export async function isWorthCompressing(block: Buffer): Promise<boolean> {
  const { length } = await compressWhole(block, 'zstd')
  return isWorthIt(length, block.length)
}

export function isWorthIt(compressedBytes: number, bytes: number): boolean {
  return compressedBytes < bytes * WORTH_RATIO
}

/**
 * Compresses a stream block by block. Not a `Transform` in a pipeline, because that would keep its turn on the thread pool while its client
 * is slow. Each call resolves with the output when the block has been read and its buffer is free.
 */
export class Compressor implements Disposable {
  static #live = 0
  readonly #stream: ReturnType<typeof createGzip | typeof createZstdCompress>
  #output: Buffer[] = []
  #isLive = true

  /** @returns undefined while too many others are at work */
  static start(coding: Compression): Compressor | undefined {
    return Compressor.#live < MAX_COMPRESSORS ? new Compressor(coding) : undefined
  }

  private constructor(coding: Compression) {
    Compressor.#live++
    this.#stream = coding === 'gzip' ? createGzip(GZIP) : createZstdCompress(ZSTD)
    this.#stream.on('data', (chunk: Buffer) => this.#output.push(chunk))
    // The call that it fails rejects.
    this.#stream.on('error', () => undefined)
  }

  add(block: Buffer): Promise<readonly Buffer[]> {
    return takeTurn(
      () =>
        new Promise((resolve, reject) => {
          this.#stream.write(block, (error) => (error ? reject(error) : resolve(this.#takeOutput())))
        }),
    )
  }

  end(): Promise<readonly Buffer[]> {
    return takeTurn(
      () =>
        new Promise((resolve, reject) => {
          this.#stream.once('end', () => resolve(this.#takeOutput())).once('error', reject)
          this.#stream.end()
        }),
    )
  }

  [Symbol.dispose](): void {
    if (!this.#isLive) return
    this.#isLive = false
    Compressor.#live--
    this.#stream.destroy()
  }

  #takeOutput(): readonly Buffer[] {
    const output = this.#output
    this.#output = []
    return output
  }
}
