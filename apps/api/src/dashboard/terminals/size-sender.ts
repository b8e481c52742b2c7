export interface TerminalSize {
  readonly cols: number
  readonly rows: number
}

/** A failure drops the size. */
type Send = (size: TerminalSize) => Promise<void>

/** The size of a terminal, which the daemon is told one at a time: always the latest that was asked for. */
export class SizeSender {
  readonly #send: Send
  #current: TerminalSize
  #isSending = false

  constructor(size: TerminalSize, send: Send) {
    this.#current = size
    this.#send = send
  }

  get current(): TerminalSize {
    return this.#current
  }

  /**
   * Returns whether the daemon is told. With `redraw` it is told of an unchanged size too, and programs print their screen again: the kernel tells them
   * only of another size, so it is another one for a moment.
   */
  change({ cols, rows }: TerminalSize, { redraw = false } = {}): boolean {
    const isSame = cols === this.#current.cols && rows === this.#current.rows
    if (isSame && !redraw) return false
    this.#current = { cols, rows }
    const other = { cols, rows: rows > 1 ? rows - 1 : rows + 1 }
    if (!this.#isSending) void this.#sendLatest(isSame ? other : undefined)
    return true
  }

  /** Sends until no other size was asked for meanwhile. Never rejects. */
  async #sendLatest(before: TerminalSize | undefined): Promise<void> {
    let sent = before
    this.#isSending = true
    try {
      if (before !== undefined) await this.#send(before)
      while (sent !== this.#current) {
        sent = this.#current
        await this.#send(sent)
      }
    } catch {
      // The next change tries again.
    } finally {
      this.#isSending = false
    }
  }
}
