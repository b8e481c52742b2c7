/** Text of a connection up to a terminator, which may arrive in any number of pieces. Each byte is searched once. */
export class TextSection {
  readonly #terminator: string
  readonly #maxBytes: number
  #text: string
  /** The last characters, which may be the beginning of the terminator. */
  #tail: string
  isComplete = false

  /** @param begun text that was read before and belongs to the section */
  constructor(terminator: string, maxBytes: number, begun = '') {
    this.#terminator = terminator
    this.#maxBytes = maxBytes
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
   * @throws when it is too large
   */
  take(data: Buffer, at: number): number {
    const end = this.#findEnd(data, at)
    const taken = data.toString('latin1', at, end)
    this.#text += taken
    if (this.#text.length > this.#maxBytes) throw new Error('the answer has a part that is too large')
    this.isComplete = end !== undefined
    if (this.isComplete) this.#text = this.#text.slice(0, -this.#terminator.length)
    else this.#tail = (this.#tail + taken.slice(-this.#overlap)).slice(-this.#overlap)
    return end ?? data.length
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
