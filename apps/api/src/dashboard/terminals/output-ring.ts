import { TERMINAL_KEPT_BYTES } from '@sandyard/dashboard-contract/limits'

/** The newest output of a terminal. Positions count all bytes since its start. */
export class OutputRing {
  readonly #bytes = Buffer.alloc(TERMINAL_KEPT_BYTES)
  #end = 0

  /** The position after the newest byte. */
  get end(): number {
    return this.#end
  }

  /** The position of the oldest byte that is kept. */
  get start(): number {
    return Math.max(0, this.#end - TERMINAL_KEPT_BYTES)
  }

  write(bytes: Uint8Array): void {
    const kept = bytes.subarray(Math.max(0, bytes.length - TERMINAL_KEPT_BYTES))
    this.#end += bytes.length - kept.length
    const at = this.#end % TERMINAL_KEPT_BYTES
    const first = kept.subarray(0, TERMINAL_KEPT_BYTES - at)
    this.#bytes.set(first, at)
    this.#bytes.set(kept.subarray(first.length), 0)
    this.#end += kept.length
  }

  /** A copy of what is kept from a position on, at most `maxBytes`. */
  read(from: number, maxBytes: number): Buffer {
    const length = Math.min(maxBytes, this.#end - from)
    const at = from % TERMINAL_KEPT_BYTES
    const first = this.#bytes.subarray(at, Math.min(TERMINAL_KEPT_BYTES, at + length))
    return Buffer.concat([first, this.#bytes.subarray(0, length - first.length)])
  }

  /** Where a new viewer begins: after a line end, if the output is cut, since the cut may be inside of a character or of an escape sequence. */
  firstWhole(): number {
    if (this.start === 0) return 0
    const newline = this.read(this.start, SEARCHED_BYTES).indexOf(0x0a)
    return newline === -1 ? this.start : this.start + newline + 1
  }
}

const SEARCHED_BYTES = 4096
