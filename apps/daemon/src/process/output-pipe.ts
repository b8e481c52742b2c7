import { Socket } from 'node:net'
import type { OutputChannel, TakeChunk } from './process-streams.ts'

/** The most that one data event carries (envd.md 8.5). */
const READ_BYTES = 32 * 1024

/** Shared by all pipes: each read is copied out in its callback, before the next read. */
const buffer = Buffer.allocUnsafeSlow(READ_BYTES)

/** Reads one output of a process to its end. */
export class OutputPipe implements OutputChannel {
  readonly closed: Promise<void>
  readonly #socket: Socket

  constructor(fd: number, onChunk: TakeChunk) {
    this.#socket = new Socket({
      fd,
      readable: true,
      writable: false,
      onread: { buffer, callback: (bytes) => onChunk(new Uint8Array(buffer.subarray(0, bytes))) },
    })
    // `end` comes two turns of the event loop before `close`, which comes alone after a failure or `close()`.
    this.closed = new Promise((resolve) => this.#socket.once('end', () => resolve()).once('close', () => resolve()))
    this.#socket.on('error', () => undefined)
    this.#socket.resume()
  }

  resume(): void {
    if (!this.#socket.destroyed) this.#socket.resume()
  }

  /** Processes that still write get EPIPE. */
  close(): void {
    this.#socket.destroy()
  }
}
