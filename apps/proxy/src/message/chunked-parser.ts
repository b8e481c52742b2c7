import { parseHeaders } from './parse-headers.ts'
import { TextSection } from './text-section.ts'

export interface ChunkHandler {
  onBody(bytes: Buffer): void
  /** @param trailers name, value, name, value */
  onComplete(trailers: readonly string[]): void
}

/** `code` is that of the same error of Node's parser. */
class ChunkError extends Error {
  override readonly name = 'ChunkError'
  readonly code: string

  constructor(message: string, code = 'HPE_INVALID_CHUNK_SIZE') {
    super(message)
    this.code = code
  }
}

/** Larger than the trailers of any real message. */
const MAX_TRAILER_BYTES = 256 * 1024
/** For the extensions of all chunks of a message, which have no use. */
const MAX_CHUNK_LINE_BYTES = 16 * 1024

const CHUNK_LINE = /^([0-9a-f]{1,13})(?:;[\t\x20-\x7e\x80-\xff]*)?$/i

type State = 'chunk-line' | 'chunk' | 'chunk-end' | 'trailers' | 'done'

/** Reads a body in chunks (RFC 9112, 7.1). It accepts only what all parsers read in the same way. */
export class ChunkedParser {
  readonly #handler: ChunkHandler
  #state: State = 'chunk-line'
  #section = new TextSection('\r\n', MAX_CHUNK_LINE_BYTES)
  /** Bytes of the current chunk that are still to come. */
  #left = 0
  #chunkLineBytes = 0

  constructor(handler: ChunkHandler) {
    this.#handler = handler
  }

  get isDone(): boolean {
    return this.#state === 'done'
  }

  /**
   * Reads bytes from `at` on. Returns the position behind those that belong to the body.
   *
   * @throws ChunkError, and what the handler throws
   */
  push(data: Buffer, at: number): number {
    let position = at
    while (position < data.length && !this.isDone) position = this.#read(data, position)
    return position
  }

  #read(data: Buffer, at: number): number {
    if (this.#state === 'chunk') return this.#readChunk(data, at)
    const end = this.#section.take(data, at)
    if (this.#section.isComplete) this.#endSection(this.#section.text)
    return end
  }

  #readChunk(data: Buffer, at: number): number {
    const end = Math.min(data.length, at + this.#left)
    // A whole read is passed on as it is, so that its memory can be freed when it was written.
    this.#handler.onBody(at === 0 && end === data.length ? data : data.subarray(at, end))
    this.#left -= end - at
    if (this.#left === 0) this.#expect('chunk-end', new TextSection('\r\n', 2))
    return end
  }

  #endSection(text: string): void {
    if (this.#state === 'trailers') {
      const trailers = text === '' ? [] : parseHeaders(text.split('\r\n'), 1).rawHeaders
      this.#state = 'done'
      this.#handler.onComplete(trailers)
    } else if (this.#state === 'chunk-end') {
      if (text !== '') throw new ChunkError('a chunk is longer than its size')
      this.#expect('chunk-line', new TextSection('\r\n', MAX_CHUNK_LINE_BYTES))
    } else this.#startChunk(text)
  }

  #startChunk(line: string): void {
    const [, size] = CHUNK_LINE.exec(line) ?? []
    if (size === undefined) throw new ChunkError('a chunk has an invalid size')
    this.#chunkLineBytes += line.length - size.length
    if (this.#chunkLineBytes > MAX_CHUNK_LINE_BYTES)
      throw new ChunkError('the chunks have too many extensions', 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    this.#left = Number.parseInt(size, 16)
    // Trailers end with an empty line: the end of the line of the last chunk, when there are none.
    if (this.#left === 0) this.#expect('trailers', new TextSection('\r\n\r\n', MAX_TRAILER_BYTES, '\r\n'))
    else this.#state = 'chunk'
  }

  #expect(state: State, section: TextSection): void {
    this.#state = state
    this.#section = section
  }
}
