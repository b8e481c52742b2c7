export interface TextSectionOptions {
  readonly maxBytes: number
  /** What is thrown for more. */
  readonly tooLarge: () => Error
  /** Text that was read before and belongs to the section. */
  readonly begun?: string
}

/** Pieces after which the text is copied into one: until then each of them takes much more than its bytes. */
const MAX_PIECES = 64

/** Text of a connection up to a terminator, which may arrive in any number of pieces. Each byte is searched once. */
export class TextSection {
  readonly #terminator: string
  readonly #options: TextSectionOptions
  #pieces = 0
  #text: string
  /** The last characters, which may be the beginning of the terminator. */
  #tail: string
  isComplete = false

  constructor(terminator: string, options: TextSectionOptions) {
    const { begun = '' } = options
    this.#terminator = terminator
    this.#options = options
    this.#text = begun
    this.#tail = begun
  }

  /** What has arrived, in latin1; without the terminator when it is complete. */
  get text(): string {
    return this.#text
  }

  /**
   * Takes bytes from `at` on, and returns the position behind those that belong to the section.
   *
   * @throws `tooLarge`
   */
  take(data: Buffer, at: number): number {
    const end = this.#findEnd(data, at)
    const taken = data.toString('latin1', at, end)
    this.#add(taken)
    if (this.#text.length > this.#options.maxBytes) throw this.#options.tooLarge()
    this.isComplete = end !== undefined
    if (this.isComplete) this.#text = this.#text.slice(0, -this.#terminator.length)
    else this.#tail = (this.#tail + taken.slice(-this.#overlap)).slice(-this.#overlap)
    return end ?? data.length
  }

  #add(taken: string): void {
    this.#text += taken
    this.#pieces += 1
    if (this.#pieces < MAX_PIECES) return
    this.#pieces = 0
    this.#text = Buffer.from(this.#text, 'latin1').toString('latin1')
  }

  get #overlap(): number {
    return this.#terminator.length - 1
  }

  #findEnd(data: Buffer, at: number): number | undefined {
    if (this.#tail !== '') {
      const seam = this.#tail + data.toString('latin1', at, at + this.#overlap)
      const found = seam.indexOf(this.#terminator)
      if (found !== -1) return at + found + this.#terminator.length - this.#tail.length
    }
    const found = data.indexOf(this.#terminator, at, 'latin1')
    return found === -1 ? undefined : found + this.#terminator.length
  }
}
