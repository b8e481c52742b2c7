export interface TerminalSize {
  readonly cols: number
  readonly rows: number
}

/** A failure drops the size. */
type Send = (size: TerminalSize) => Promise<void>

/** Sends the sizes of a terminal to the daemon, one request at a time. A size that was replaced before its turn is not sent. */
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
   * Returns whether the size is sent. With `redraw` an unchanged size is sent too, so that programs print their screen again. The kernel signals only a
   * changed size, so another size is sent first.
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
