import { TERMINAL_INPUT_BYTES, TERMINAL_INPUT_CHUNKS, MAX_TERMINAL_CHUNK_BYTES } from '@sandyard/dashboard-contract/limits'

/** Sends to the shell. A failure drops the bytes. */
type Send = (bytes: Uint8Array) => Promise<void>

/** Input of a terminal that waits for the daemon, in order. */
export class InputQueue {
  readonly #send: Send
  #chunks: Uint8Array[] = []
  #bytes = 0
  #isSending = false

  constructor(send: Send) {
    this.#send = send
  }

  /** False when too much waits, in bytes or in chunks. */
  push(bytes: Uint8Array): boolean {
    if (bytes.length === 0) return true
    if (this.#bytes + bytes.length > TERMINAL_INPUT_BYTES || this.#chunks.length >= TERMINAL_INPUT_CHUNKS) return false
    // The frame that it is a part of is not kept.
    this.#chunks.push(Uint8Array.from(bytes))
    this.#bytes += bytes.length
    if (!this.#isSending) void this.#sendAll()
    return true
  }

  clear(): void {
    this.#chunks = []
    this.#bytes = 0
  }

  /** Never rejects. */
  async #sendAll(): Promise<void> {
    this.#isSending = true
    while (this.#chunks.length > 0) {
      try {
        await this.#send(this.#take())
      } catch {
        // The shell has ended, or does not answer: what was typed meanwhile would come too late.
        this.clear()
      }
    }
    this.#isSending = false
  }

  /** As much as one call may have. */
  #take(): Uint8Array {
    let bytes = 0
    let count = 0
    for (const chunk of this.#chunks) {
      if (count > 0 && bytes + chunk.length > MAX_TERMINAL_CHUNK_BYTES) break
      bytes += chunk.length
      count += 1
    }
    this.#bytes -= bytes
    return Buffer.concat(this.#chunks.splice(0, count))
  }
}
