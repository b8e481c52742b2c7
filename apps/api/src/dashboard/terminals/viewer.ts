import { MAX_TERMINAL_CHUNK_BYTES, TERMINAL_WINDOW_BYTES } from '@sandyard/dashboard-contract/limits'
import { encodeTerminalFrame, type ServerFrame } from '@sandyard/dashboard-contract/live/frames'
import type { Outbox } from '../live/outbox.ts'
import type { OutputRing } from './output-ring.ts'

/** A viewer that is further behind slows down the terminal, for a while. */
const LAG_BYTES = TERMINAL_WINDOW_BYTES / 2
/** While other topics fill the outbox. */
const RETRY_MS = 100

/**
 * A page that shows a terminal, on one channel of its socket. It gets no more than it has acknowledged and the window; output that it has missed
 * is left out with a line that says so.
 */
export class Viewer implements Disposable {
  readonly channel: number
  readonly #outbox: Outbox
  readonly #ring: OutputRing
  readonly #onRoom: () => void
  #position: number
  #unacknowledged = 0
  /** It has acknowledged nothing while the terminal waited for it: the terminal does not wait again before it does. */
  #isStuck = false
  #retry: NodeJS.Timeout | undefined
  /** Sent after all output. */
  #last: ServerFrame | undefined

  constructor(channel: number, outbox: Outbox, ring: OutputRing, onRoom: () => void) {
    this.channel = channel
    this.#outbox = outbox
    this.#ring = ring
    this.#onRoom = onRoom
    this.#position = ring.firstWhole()
  }

  get isBehind(): boolean {
    return !this.#isStuck && this.#ring.end - this.#position > LAG_BYTES
  }

  giveUp(): void {
    if (this.isBehind) this.#isStuck = true
  }

  acknowledge(bytes: number): void {
    this.#unacknowledged = Math.max(0, this.#unacknowledged - bytes)
    this.#isStuck = false
    this.pump()
    this.#onRoom()
  }

  tell(frame: ServerFrame): void {
    this.#outbox.tell(frame)
  }

  /** Tells of the end, after the output before it. */
  finish(frame: ServerFrame): void {
    this.#last = frame
    this.pump()
  }

  /** Sends what there is, as far as the window goes. */
  pump(): void {
    while (this.#position < this.#ring.end) {
      const room = TERMINAL_WINDOW_BYTES - this.#unacknowledged
      if (room <= 0) return
      const { bytes, next } = this.#next(Math.min(room, MAX_TERMINAL_CHUNK_BYTES))
      if (!this.#outbox.offer(encodeTerminalFrame(this.channel, bytes))) return this.#pumpLater()
      this.#unacknowledged += bytes.length
      this.#position = next
    }
    if (this.#last !== undefined) this.#outbox.tell(this.#last)
    this.#last = undefined
  }

  #next(maxBytes: number): { readonly bytes: Buffer; readonly next: number } {
    if (this.#position < this.#ring.start) {
      const next = this.#ring.firstWhole()
      const notice = `\x1b[0m\r\n[${Math.ceil((next - this.#position) / 1024)} KiB of output left out]\r\n`
      return { bytes: Buffer.from(notice), next }
    }
    const bytes = this.#ring.read(this.#position, maxBytes)
    return { bytes, next: this.#position + bytes.length }
  }

  #pumpLater(): void {
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined
      this.pump()
    }, RETRY_MS)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#retry)
  }
}
