import { StringDecoder } from 'node:string_decoder'

/** A longer line is split. */
const MAX_LINE_LENGTH = 4096

/**
 * Splits the output of a process into lines. A carriage return within a line restarts it, as on a terminal, so only the last state of a
 * progress bar is kept. A NUL ends a line, because logs cannot store it.
 */
export class OutputLines {
  readonly #decoder = new StringDecoder('utf8')
  /** The unfinished line. */
  #pending = ''
  #onLine: (line: string) => void

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
  }

  push(bytes: Uint8Array): void {
    this.#take(this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)))
  }

  /** Ends the output: an unfinished last line becomes a line. */
  end(): void {
    this.#take(this.#decoder.end())
    this.#endPending('\0')
  }

  #take(text: string): void {
    for (const [, part = '', separator = ''] of text.matchAll(/([^\n\0]*)([\n\0]?)/g)) {
      this.#append(part)
      if (separator !== '') this.#endPending(separator)
    }
  }

  #append(part: string): void {
    this.#pending += part
    // Drops text that a carriage return overwrote. One at the end may be half of CRLF.
    const overwritten = this.#pending.lastIndexOf('\r', this.#pending.length - 2)
    if (overwritten >= 0) this.#pending = this.#pending.slice(overwritten + 1)
    while (this.#pending.length > MAX_LINE_LENGTH) {
      this.#onLine(this.#pending.slice(0, MAX_LINE_LENGTH))
      this.#pending = this.#pending.slice(MAX_LINE_LENGTH)
    }
  }

  /** A NUL ends a line only if there is text before it. */
  #endPending(separator: string): void {
    const line = this.#pending.replace(/\r+$/, '')
    this.#pending = ''
    if (separator === '\n' || line !== '') this.#onLine(line)
  }
}
