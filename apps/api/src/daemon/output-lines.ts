import { StringDecoder } from 'node:string_decoder'

/** A longer line is cut into several. */
const MAX_LINE_LENGTH = 4096

/**
 * Makes lines of the bytes that a process prints. A carriage return within a line begins it anew, as it does on a terminal, so a
 * progress bar is its last state. A NUL, which no log can hold, ends a line.
 */
export class OutputLines {
  readonly #decoder = new StringDecoder('utf8')
  /** Of the line that has not ended. */
  #pending = ''
  #onLine: (line: string) => void

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
  }

  push(bytes: Uint8Array): void {
    this.#take(this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)))
  }

  /** There is no more: what there is of a last line is one. */
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
    // What a carriage return has overwritten is gone; one at the end may still be half of a line's end.
    const overwritten = this.#pending.lastIndexOf('\r', this.#pending.length - 2)
    if (overwritten >= 0) this.#pending = this.#pending.slice(overwritten + 1)
    while (this.#pending.length > MAX_LINE_LENGTH) {
      this.#onLine(this.#pending.slice(0, MAX_LINE_LENGTH))
      this.#pending = this.#pending.slice(MAX_LINE_LENGTH)
    }
  }

  /** Nothing before a NUL is no line. */
  #endPending(separator: string): void {
    const line = this.#pending.replace(/\r+$/, '')
    this.#pending = ''
    if (separator === '\n' || line !== '') this.#onLine(line)
  }
}
