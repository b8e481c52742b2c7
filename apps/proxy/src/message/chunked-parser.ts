import { SMALL_BYTES } from '@sandyard/kit/net/relay-bytes'
import { parseHeaders } from './parse-headers.ts'
import { TextSection } from './text-section.ts'

export interface ChunkHandler {
  /** Receives some bytes of the body. Small chunks that arrive in one read come together. */
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

/** Larger than the trailers of any real message. They are kept until they are whole, and ten thousand connections can have some at once. */
const MAX_TRAILER_BYTES = 16 * 1024
/** For the extensions of all chunks of a message, which have no use. */
const MAX_CHUNK_LINE_BYTES = 16 * 1024

const CHUNK_LINE = /^([0-9a-f]{1,13})(?:;[\t\x20-\x7e\x80-\xff]*)?$/i
const MAX_SIZE_DIGITS = 13
/** Of a chunk with its framing, below which its size says little of what it costs. */
const TINY_BYTES = 64
/** Cost little, however small they are. */
const FEW_CHUNKS = 16
const CR = 0x0d
const LF = 0x0a

type State = 'chunk-line' | 'chunk' | 'chunk-end' | 'trailers' | 'done'

/** Reads a body in chunks (RFC 9112, 7.1). It accepts only what all parsers read in the same way. */
export class ChunkedParser {
  readonly #handler: ChunkHandler
  #state: State = 'chunk-line'
  /** A line, or the trailers, that has arrived in part or is unusual. */
  #section: TextSection | undefined
  /** Bytes of the current chunk that are still to come. */
  #left = 0
  #chunkLineBytes = 0
  /** Small bytes of this read that were not passed on, and as text those behind them: each piece that waits somewhere costs much more than its bytes. */
  #small: Buffer | undefined
  #behind = ''
  #chunksOfRead = 0
  /** Most of the last read was the framing of tiny chunks, which takes much longer than its bytes. */
  hasTinyChunks = false

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
    this.#chunksOfRead = 0
    try {
      while (position < data.length && !this.isDone) position = this.#read(data, position)
    } finally {
      this.#passSmall()
    }
    this.hasTinyChunks = this.#chunksOfRead > FEW_CHUNKS && this.#chunksOfRead * TINY_BYTES > position - at
    return position
  }

  #read(data: Buffer, at: number): number {
    if (this.#state === 'chunk') return this.#readChunk(data, at)
    const usual = this.#section === undefined ? this.#readUsualLine(data, at) : undefined
    if (usual !== undefined) return usual
    const section = (this.#section ??= this.#beginSection())
    const end = section.take(data, at)
    if (!section.isComplete) return end
    this.#section = undefined
    this.#endSection(section.text)
    return end
  }

  #readChunk(data: Buffer, at: number): number {
    const end = Math.min(data.length, at + this.#left)
    // A whole read is passed on as it is, so that its memory can be freed when it was written.
    if (at === 0 && end === data.length) this.#handler.onBody(data)
    else this.#pass(data, at, end)
    this.#left -= end - at
    if (this.#left === 0) this.#state = 'chunk-end'
    return end
  }

  #pass(data: Buffer, at: number, end: number): void {
    if (end - at >= SMALL_BYTES) {
      this.#passSmall()
      this.#handler.onBody(data.subarray(at, end))
    } else if (this.#small === undefined) this.#small = data.subarray(at, end)
    else this.#behind += data.toString('latin1', at, end)
  }

  #passSmall(): void {
    const small = this.#small
    if (small === undefined) return
    const bytes = this.#behind === '' ? small : Buffer.concat([small, Buffer.from(this.#behind, 'latin1')])
    this.#small = undefined
    this.#behind = ''
    this.#handler.onBody(bytes)
  }

  /**
   * Reads the line of a size without extensions, or the end of a chunk, when it has arrived whole: a read may have a hundred thousand of them.
   * Returns undefined for all others.
   */
  #readUsualLine(data: Buffer, at: number): number | undefined {
    let end = at
    let size = 0
    if (this.#state === 'chunk-line') {
      for (let digit = hexDigit(data[end]); digit !== undefined; digit = hexDigit(data[end])) {
        size = size * 16 + digit
        end += 1
        if (end - at > MAX_SIZE_DIGITS) return undefined
      }
      if (end === at) return undefined
    } else if (this.#state !== 'chunk-end') return undefined
    if (data[end] !== CR || data[end + 1] !== LF) return undefined
    if (this.#state === 'chunk-end') this.#state = 'chunk-line'
    else this.#startChunk(size)
    return end + 2
  }

  #beginSection(): TextSection {
    if (this.#state === 'trailers') {
      const tooLarge = (): Error => new ChunkError('the trailers are too large', 'HPE_HEADER_OVERFLOW')
      // Trailers end with an empty line: the end of the line of the last chunk, when there are none.
      return new TextSection('\r\n\r\n', { maxBytes: MAX_TRAILER_BYTES, tooLarge, begun: '\r\n' })
    }
    if (this.#state === 'chunk-end') return new TextSection('\r\n', { maxBytes: 2, tooLarge: tooLong })
    return new TextSection('\r\n', { maxBytes: MAX_CHUNK_LINE_BYTES, tooLarge: tooManyExtensions })
  }

  #endSection(text: string): void {
    if (this.#state === 'trailers') this.#complete(text)
    else if (this.#state === 'chunk-end') {
      if (text !== '') throw tooLong()
      this.#state = 'chunk-line'
    } else this.#readLine(text)
  }

  #complete(text: string): void {
    const { headers, rawHeaders } = parseHeaders(text.split('\r\n'), 1)
    if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) {
      throw new ChunkError('the trailers have a length or a coding', 'HPE_INVALID_TRANSFER_ENCODING')
    }
    this.#passSmall()
    this.#state = 'done'
    this.#handler.onComplete(rawHeaders)
  }

  #readLine(line: string): void {
    const [, size] = CHUNK_LINE.exec(line) ?? []
    if (size === undefined) throw new ChunkError('a chunk has an invalid size')
    this.#chunkLineBytes += line.length - size.length
    if (this.#chunkLineBytes > MAX_CHUNK_LINE_BYTES) throw tooManyExtensions()
    this.#startChunk(Number.parseInt(size, 16))
  }

  #startChunk(size: number): void {
    this.#chunksOfRead += 1
    this.#left = size
    this.#state = size === 0 ? 'trailers' : 'chunk'
  }
}

function tooLong(): Error {
  return new ChunkError('a chunk is longer than its size')
}

function tooManyExtensions(): Error {
  return new ChunkError('the chunks have too many extensions', 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
}

function hexDigit(byte: number | undefined): number | undefined {
  if (byte === undefined) return undefined
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  // In lower case.
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined
}
