const [QUOTE, BACKSLASH, END] = [0x22, 0x5c, 0x7d]

/**
 * Takes the first entries of a JSON array of flat objects as it comes, so that the rest needs not be read. UTF-8 has the bytes of these characters
 * nowhere else.
 */
export class FirstEntries {
  readonly #maxEntries: number
  readonly #maxBytes: number
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #entries = 0
  /** Bytes up to the end of the last whole entry. */
  #wholeBytes = 0
  #isText = false
  #isEscaped = false
  #isCut = false

  constructor(caps: { readonly maxEntries: number; readonly maxBytes: number }) {
    this.#maxEntries = caps.maxEntries
    this.#maxBytes = caps.maxBytes
  }

  /** There is more than the caps allow. */
  get isCut(): boolean {
    return this.#isCut
  }

  /** Takes the next bytes. */
  add(chunk: Buffer): void {
    for (const [at, byte] of chunk.entries()) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (this.#isText) {
        this.#isEscaped = byte === BACKSLASH
        this.#isText = byte !== QUOTE
      } else if (byte === QUOTE) {
        this.#isText = true
      } else if (byte === END) {
        const end = this.#bytes + at + 1
        this.#isCut = this.#entries === this.#maxEntries || end > this.#maxBytes
        if (this.#isCut) break
        this.#entries += 1
        this.#wholeBytes = end
      }
    }
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    this.#isCut ||= this.#bytes > this.#maxBytes && this.#wholeBytes < this.#bytes - chunk.length
  }

  /** The JSON of the whole entries. */
  text(): string {
    return this.#entries === 0 ? '[]' : `${Buffer.concat(this.#chunks).toString('utf8', 0, this.#wholeBytes)}]`
  }
}
