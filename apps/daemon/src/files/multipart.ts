/**
 * A streaming reader of `multipart/form-data`. The parsers of the ecosystem tell fields from files by the presence of a filename and
 * go on to the next part by themselves; here every part is alike, and the next one comes when it is asked for (envd.md 5.7).
 */

/** Headers of a part, and lines before the first one, beyond any that a client sends. */
const MAX_LINE_BYTES = 64 * 1024
const MAX_HEADER_LINES = 64

const LINE_FEED = 0x0a

/** A part of the body. Its bytes can be read once, and only until the next part is asked for. */
export interface Part {
  /** By name in lower case, the first of a repeated one. Values are byte strings (latin1). */
  readonly headers: ReadonlyMap<string, string>
  readonly body: AsyncIterable<Buffer>
}

/** The body is not what its boundary says. The message is for the client. */
export class MalformedMultipart extends Error {
  override readonly name = 'MalformedMultipart'
}

/**
 * The parts of a body in their order, in flat memory. What is left of a part is skipped when the next one is asked for.
 *
 * @throws MalformedMultipart, from the body of a part as `unexpected EOF`; whatever `source` throws
 */
export async function* readParts(source: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<Part> {
  const reader = new MultipartReader(source[Symbol.asyncIterator](), boundary)
  for (let headers = await reader.nextHeaders(); headers !== undefined; headers = await reader.nextHeaders()) {
    yield { headers, body: { [Symbol.asyncIterator]: () => ({ next: () => reader.nextChunk() }) } }
  }
}

class MultipartReader {
  readonly #source: AsyncIterator<Buffer>
  readonly #dashBoundary: Buffer
  /** What ends a part: a newline, in the client's way, and the boundary. */
  #delimiter: Buffer
  #pending: Buffer = Buffer.alloc(0)
  #phase: 'preamble' | 'body start' | 'body' | 'between' = 'preamble'

  constructor(source: AsyncIterator<Buffer>, boundary: string) {
    this.#source = source
    this.#dashBoundary = Buffer.from(`--${boundary}`, 'latin1')
    this.#delimiter = this.#dashBoundary
  }

  /** Goes to the next part; undefined after the last one. */
  async nextHeaders(): Promise<Map<string, string> | undefined> {
    while (this.#phase === 'body start' || this.#phase === 'body') await this.nextChunk()
    for (;;) {
      const line = await this.#readLine()
      if (line === undefined) throw new MalformedMultipart('multipart: NextPart: EOF')
      const kind = this.#classify(line)
      if (kind === 'end') return undefined
      if (kind === 'part') break
      if (this.#phase === 'between') throw new MalformedMultipart(`multipart: expecting a new Part; got line ${JSON.stringify(line)}`)
    }
    const headers = await this.#readHeaders()
    this.#phase = 'body start'
    return headers
  }

  /** The next bytes of the current part, as few or as many as have arrived. */
  async nextChunk(): Promise<IteratorResult<Buffer, undefined>> {
    while (this.#phase === 'body start' || this.#phase === 'body') {
      const { dataBytes, isEnd, newlineBytes } = this.#scan()
      const chunk = this.#pending.subarray(0, dataBytes)
      this.#pending = this.#pending.subarray(dataBytes + newlineBytes)
      if (isEnd) this.#phase = 'between'
      else if (dataBytes > 0) this.#phase = 'body'
      if (chunk.length > 0) return { done: false, value: chunk }
      if (!isEnd && !(await this.#receive())) throw new MalformedMultipart('unexpected EOF')
    }
    return { done: true, value: undefined }
  }

  /** How much of what is pending surely belongs to the part, and whether the part ends there. */
  #scan(): { dataBytes: number; isEnd: boolean; newlineBytes: number } {
    const pending = this.#pending
    // A part without a byte may lack the newline before its boundary.
    if (this.#phase === 'body start') {
      if (pending.length <= this.#dashBoundary.length && isPrefix(pending, this.#dashBoundary))
        return { dataBytes: 0, isEnd: false, newlineBytes: 0 }
      if (isPrefix(this.#dashBoundary, pending) && this.#endsBoundary(this.#dashBoundary.length))
        return { dataBytes: 0, isEnd: true, newlineBytes: 0 }
    }
    const delimiter = this.#delimiter
    const newlineBytes = delimiter.length - this.#dashBoundary.length
    let from = 0
    for (let at = pending.indexOf(delimiter); at >= 0; at = pending.indexOf(delimiter, from)) {
      if (at + delimiter.length === pending.length) return { dataBytes: at, isEnd: false, newlineBytes: 0 }
      if (this.#endsBoundary(at + delimiter.length)) return { dataBytes: at, isEnd: true, newlineBytes }
      from = at + 1
    }
    return { dataBytes: tailStart(pending, delimiter, from), isEnd: false, newlineBytes: 0 }
  }

  /** A longer boundary that begins with this one is data. */
  #endsBoundary(at: number): boolean {
    return ' \t\r\n-'.includes(String.fromCharCode(this.#pending[at] ?? 0))
  }

  #classify(line: string): 'part' | 'end' | 'other' {
    const boundary = this.#dashBoundary.toString('latin1')
    if (!line.startsWith(boundary)) return 'other'
    const rest = line.slice(boundary.length)
    if (/^--[ \t]*\r?\n?$/.test(rest)) return 'end'
    if (!/^[ \t]*\r?\n$/.test(rest)) return 'other'
    // Whoever ends the first boundary with a bare line feed does so throughout.
    if (this.#phase === 'preamble')
      this.#delimiter = Buffer.concat([Buffer.from(rest.endsWith('\r\n') ? '\r\n' : '\n'), this.#dashBoundary])
    return 'part'
  }

  async #readHeaders(): Promise<Map<string, string>> {
    const lines: string[] = []
    for (let count = 0; count < MAX_HEADER_LINES; count++) {
      const line = await this.#readLine()
      if (line === undefined) throw new MalformedMultipart('multipart: NextPart: EOF')
      const text = line.replace(/\r?\n$/, '')
      if (text === '') return toHeaders(lines)
      if (/^[ \t]/.test(text) && lines.length > 0) lines.push(`${lines.pop()} ${text.trim()}`)
      else lines.push(text)
    }
    throw new MalformedMultipart('malformed MIME header: too many lines')
  }

  /** A line with its end; the rest of the body where it has none, and undefined where nothing is left. */
  async #readLine(): Promise<string | undefined> {
    let end = this.#pending.indexOf(LINE_FEED)
    while (end < 0) {
      if (this.#pending.length > MAX_LINE_BYTES) throw new MalformedMultipart('multipart: line too long')
      if (!(await this.#receive())) break
      end = this.#pending.indexOf(LINE_FEED)
    }
    const length = end < 0 ? this.#pending.length : end + 1
    const line = this.#pending.toString('latin1', 0, length)
    this.#pending = this.#pending.subarray(length)
    return line === '' ? undefined : line
  }

  async #receive(): Promise<boolean> {
    const next = await this.#source.next()
    if (next.done === true) return false
    this.#pending = this.#pending.length === 0 ? next.value : Buffer.concat([this.#pending, next.value])
    return true
  }
}

function toHeaders(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon < 0) throw new MalformedMultipart(`malformed MIME header: missing colon: ${JSON.stringify(line)}`)
    const name = line.slice(0, colon).trim().toLowerCase()
    if (!headers.has(name)) headers.set(name, line.slice(colon + 1).trim())
  }
  return headers
}

/** Where the bytes begin that may turn out to be a delimiter once more of them have arrived; the end where there are none. */
function tailStart(bytes: Buffer, delimiter: Buffer, from: number): number {
  const [first = 0] = delimiter
  for (let at = bytes.indexOf(first, Math.max(from, bytes.length - delimiter.length)); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (isPrefix(bytes.subarray(at), delimiter)) return at
  }
  return bytes.length
}

function isPrefix(prefix: Buffer, bytes: Buffer): boolean {
  return prefix.length <= bytes.length && prefix.equals(bytes.subarray(0, prefix.length))
}
