/**
 * A streaming parser of `multipart/form-data`. It is our own because the libraries separate fields from files by the presence of a
 * filename and push parts; here all parts are equal, and the caller pulls them (envd.md 5.7).
 */
import { decodePath } from '../users/path-bytes.ts'
import { UndecodableBody } from './gunzip.ts'
import { PartDelimiter } from './part-delimiter.ts'
import { quoted } from './quoted.ts'
import { CutBody } from './request-body.ts'

/** Caps for the headers of a part and for lines before the first one, far above what clients send. */
const MAX_LINE_BYTES = 64 * 1024
const MAX_HEADER_BYTES = 1024 * 1024
const MAX_HEADER_LINES = 10_000

const LINE_FEED = 0x0a
/** Control characters that a header must not contain; tab is allowed. */
const UNPRINTABLE = /[^\t\x20-\x7e\x80-\xff]/
const NOTHING = Buffer.alloc(0)

/** A part of the body. Its bytes can be read once, before the next part is requested. */
export interface Part {
  /** By name in lower case, the first of a repeated one. Values are byte strings (latin1). */
  readonly headers: ReadonlyMap<string, string>
  readonly body: AsyncIterable<Buffer>
  /** All of {@link body}, if its end has arrived. Call it before anything of the body is read. */
  takeWhole(): Buffer | undefined
}

/** The body does not match its boundary. The message is for the client. */
class MalformedMultipart extends Error {
  override readonly name = 'MalformedMultipart'
}

/**
 * The parts of a body in order, with bounded memory. The unread rest of a part is skipped when the next one is requested.
 *
 * @throws MalformedMultipart, from the body of a part as `unexpected EOF`; errors of `source`, which between two parts become a
 * MalformedMultipart if they describe a fault of the client's body
 */
export async function* readParts(source: AsyncIterable<Buffer> | Iterable<Buffer>, boundary: string): AsyncGenerator<Part> {
  const reader = new MultipartReader(Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator](), boundary)
  for (let headers = await reader.nextHeaders(); headers !== undefined; headers = await reader.nextHeaders()) {
    yield {
      headers,
      body: { [Symbol.asyncIterator]: () => ({ next: () => reader.nextChunk() }) },
      takeWhole: () => reader.takeWhole(),
    }
  }
}

class MultipartReader {
  readonly #source: AsyncIterator<Buffer> | Iterator<Buffer>
  readonly #boundary: string
  #delimiter: PartDelimiter
  #pending: Buffer = NOTHING
  /** Whether nothing follows `#pending`. */
  #isOver = false
  /** The error of the source; undefined after a normal end. */
  #failure: unknown
  #phase: 'preamble' | 'body start' | 'body' | 'between' = 'preamble'

  constructor(source: AsyncIterator<Buffer> | Iterator<Buffer>, boundary: string) {
    this.#source = source
    this.#boundary = boundary
    this.#delimiter = new PartDelimiter(boundary, '\r\n')
  }

  /** Advances to the next part; undefined after the last one. */
  async nextHeaders(): Promise<Map<string, string> | undefined> {
    await this.#skipBody()
    for (;;) {
      const line = await this.#readLine()
      const kind = this.#classify(line)
      const isCut = !line.endsWith('\n')
      // The last boundary need not end with a newline.
      if (kind === 'end' && !(isCut && this.#failure !== undefined)) return undefined
      if (isCut) throw this.#endBetweenParts()
      if (kind === 'part') break
      if (this.#phase === 'between') throw new MalformedMultipart(`multipart: expecting a new Part; got line ${inMessage(line)}`)
    }
    const headers = await this.#readHeaders()
    this.#phase = 'body start'
    return headers
  }

  /** Skips the rest of a part. If its end is missing, the error is that of the missing next part. */
  async #skipBody(): Promise<void> {
    try {
      while (this.#phase === 'body start' || this.#phase === 'body') await this.nextChunk()
    } catch (error) {
      if (!isClientFault(error)) throw error
      this.#phase = 'between'
      this.#pending = NOTHING
    }
  }

  /** The next bytes of the current part, as few or as many as have arrived. */
  async nextChunk(): Promise<IteratorResult<Buffer, undefined>> {
    while (this.#phase === 'body start' || this.#phase === 'body') {
      const isStart = this.#phase === 'body start'
      const { dataBytes, isEnd, newlineBytes } = this.#isOver
        ? this.#delimiter.findLast(this.#pending, isStart)
        : this.#delimiter.find(this.#pending, isStart)
      const chunk = this.#pending.subarray(0, dataBytes)
      // The consumer may release the memory of a chunk, also if nothing of it is kept here.
      this.#pending = this.#pending.length === dataBytes ? NOTHING : this.#pending.subarray(dataBytes + newlineBytes)
      if (isEnd) this.#phase = 'between'
      else if (dataBytes > 0) this.#phase = 'body'
      if (chunk.length > 0) return { done: false, value: chunk }
      if (isEnd) break
      if (this.#isOver) throw this.#failure ?? new MalformedMultipart('unexpected EOF')
      await this.#receive()
    }
    return { done: true, value: undefined }
  }

  /** The body of the current part, if all of it has been received. */
  takeWhole(): Buffer | undefined {
    if (this.#phase !== 'body start') return undefined
    const { dataBytes, isEnd, newlineBytes } = this.#delimiter.find(this.#pending, true)
    if (!isEnd) return undefined
    const body = this.#pending.subarray(0, dataBytes)
    this.#pending = this.#pending.subarray(dataBytes + newlineBytes)
    this.#phase = 'between'
    return body
  }

  #classify(line: string): 'part' | 'end' | 'other' {
    const start = `--${this.#boundary}`
    if (!line.startsWith(start)) return 'other'
    const rest = line.slice(start.length)
    if (/^--[ \t]*\r?\n?$/.test(rest)) return 'end'
    if (!/^[ \t]*\r?\n$/.test(rest)) return 'other'
    // A client that ends the first boundary with a bare line feed does so for all.
    if (this.#phase === 'preamble' && !rest.endsWith('\r\n')) this.#delimiter = new PartDelimiter(this.#boundary, '\n')
    return 'part'
  }

  async #readHeaders(): Promise<Map<string, string>> {
    const lines: string[] = []
    let size = 0
    while (lines.length < MAX_HEADER_LINES && size < MAX_HEADER_BYTES) {
      const line = await this.#readLine()
      size += line.length
      const text = line.replace(/\r?\n$/, '')
      const isCut = !line.endsWith('\n')
      if (text === '' && !isCut) return toHeaders(lines)
      if (/^[ \t]/.test(text) && lines.length > 0) lines.push(`${lines.pop()} ${text.trim()}`)
      else if (text !== '') lines.push(text)
      if (!isCut) continue
      // An error in the bytes that arrived takes precedence over the missing end.
      toHeaders(lines)
      throw this.#failure ?? this.#endBetweenParts()
    }
    throw new MalformedMultipart('multipart: message too large')
  }

  /** A line with its end; the rest of the body, perhaps empty, where it has none. */
  async #readLine(): Promise<string> {
    let end = this.#pending.indexOf(LINE_FEED)
    while (end < 0) {
      if (this.#pending.length > MAX_LINE_BYTES) throw new MalformedMultipart('multipart: message too large')
      if (!(await this.#receive())) break
      end = this.#pending.indexOf(LINE_FEED)
    }
    const length = end < 0 ? this.#pending.length : end + 1
    const line = this.#pending.toString('latin1', 0, length)
    this.#pending = this.#pending.subarray(length)
    return line
  }

  /** False at the end of the source, also when called again. */
  async #receive(): Promise<boolean> {
    if (this.#isOver) return false
    try {
      const next = await this.#source.next()
      this.#isOver = next.done === true
      if (next.done !== true) this.#pending = this.#pending.length === 0 ? next.value : Buffer.concat([this.#pending, next.value])
    } catch (error) {
      this.#isOver = true
      this.#failure = error
    }
    return !this.#isOver
  }

  #endBetweenParts(): unknown {
    const failure = this.#failure
    if (failure === undefined) return new MalformedMultipart('multipart: NextPart: EOF')
    return isClientFault(failure) ? new MalformedMultipart(`multipart: NextPart: ${failure.message}`, { cause: failure }) : failure
  }
}

/** Errors that describe a broken body to the client. */
export function isClientFault(error: unknown): error is Error {
  return error instanceof MalformedMultipart || error instanceof UndecodableBody || error instanceof CutBody
}

function inMessage(line: string): string {
  return quoted(decodePath(Buffer.from(line, 'latin1')))
}

function toHeaders(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>()
  const [first = ''] = lines
  if (/^[ \t]/.test(first)) throw new MalformedMultipart(`malformed MIME header initial line: ${inMessage(first)}`)
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon < 0) throw new MalformedMultipart(`malformed MIME header: missing colon: ${inMessage(line)}`)
    if (colon === 0 || UNPRINTABLE.test(line)) throw new MalformedMultipart(`malformed MIME header line: ${inMessage(line)}`)
    // A name with a space before its colon is another name.
    const name = line.slice(0, colon).toLowerCase()
    if (!headers.has(name)) headers.set(name, line.slice(colon + 1).trim())
  }
  return headers
}
