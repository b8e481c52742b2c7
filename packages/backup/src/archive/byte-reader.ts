import { AppError } from '@sandyard/kit/errors/app-error'

/** Reads a stream of chunks in pieces of wanted sizes. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]()
  }

  /** Fewer bytes only at the end of the stream. */
  async upTo(size: number): Promise<Buffer> {
    const pieces: Buffer[] = []
    let missing = size
    while (missing > 0 && !(await this.isAtEnd())) {
      const piece = this.#rest.subarray(0, missing)
      this.#rest = this.#rest.subarray(piece.length)
      pieces.push(piece)
      missing -= piece.length
    }
    return Buffer.concat(pieces)
  }

  /** @throws AppError `invalid_argument` when the stream ends before */
  async exactly(size: number): Promise<Buffer> {
    const bytes = await this.upTo(size)
    if (bytes.length < size) throw new AppError('invalid_argument', 'The backup is cut off: its end is missing.')
    return bytes
  }

  async isAtEnd(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next()
      if (next.done === true) return true
      this.#rest = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.length)
    }
    return false
  }
}
