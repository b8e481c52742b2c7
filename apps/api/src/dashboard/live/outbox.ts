import type { WebSocket } from 'ws'
import { LIVE_CLOSE, MAX_OUTBOX_BYTES } from '@sandyard/dashboard-contract/limits'
import type { ServerFrame } from '@sandyard/dashboard-contract/live/frames'

/** Small frames that say that others were dropped must still find room. */
const RESERVE_BYTES = 256 * 1024
/** A frame is never larger, however empty the outbox is: the page and its connection have other work too. */
const MAX_SENT_FRAME_BYTES = MAX_OUTBOX_BYTES / 2

/** What waits to be sent to one page. */
export class Outbox {
  readonly #socket: WebSocket

  constructor(socket: WebSocket) {
    this.#socket = socket
  }

  /** Whether the frame was taken: not when too much waits already. */
  offer(frame: string | Uint8Array): boolean {
    const bytes = typeof frame === 'string' ? Buffer.byteLength(frame) : frame.length
    return bytes <= MAX_SENT_FRAME_BYTES && this.#put(frame, bytes, MAX_OUTBOX_BYTES)
  }

  /** For small frames that must not be lost: a page that leaves no room even for them is closed. */
  tell(frame: ServerFrame): void {
    const text = JSON.stringify(frame)
    if (!this.#put(text, Buffer.byteLength(text), MAX_OUTBOX_BYTES + RESERVE_BYTES)) {
      this.#socket.close(LIVE_CLOSE.tooSlow, 'the page does not read')
      this.#socket.terminate()
    }
  }

  #put(frame: string | Uint8Array, bytes: number, capBytes: number): boolean {
    // What is sent to a closed socket is dropped, which is right.
    if (this.#socket.readyState !== this.#socket.OPEN) return true
    if (this.#socket.bufferedAmount + bytes > capBytes) return false
    this.#socket.send(frame)
    return true
  }
}
