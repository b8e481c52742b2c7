import { closeSync, readSync } from 'node:fs'
import { ReadStream } from 'node:tty'
import { duplicate } from '../sys/descriptors.ts'
import type { OutputChannel, TakeChunk } from './process-streams.ts'

/** The most that one data event carries (envd.md 8.5). */
const READ_BYTES = 16 * 1024

/** More bytes than the kernel buffers for a terminal. This bound ends the read even if a background process keeps writing. */
const MOST_LEFT_BYTES = 128 * 1024

/** Shared by all terminals: each read is copied out in its callback, before the next read. */
const buffer = Buffer.allocUnsafeSlow(READ_BYTES)

/** Reads the output of a terminal until no process has it open. */
export class TerminalOutput implements OutputChannel {
  readonly closed: Promise<void>
  readonly #rest: number
  readonly #stream: ReadStream
  readonly #onChunk: TakeChunk
  #isDrained = false

  /**
   * @param master is closed by this object
   * @throws the system error if there is no free descriptor; then the caller closes `master`
   */
  constructor(master: number, onChunk: TakeChunk) {
    this.#onChunk = onChunk
    this.#rest = duplicate(master)
    try {
      this.#stream = new ReadStream(master, { onread: { buffer, callback: (bytes) => this.#take(bytes) } })
    } catch (error) {
      closeSync(this.#rest)
      throw error
    }
    this.#stream.on('error', () => undefined)
    this.closed = new Promise((resolve) => this.#stream.once('close', resolve)).then(() => this.#drain())
    this.#stream.resume()
  }

  resume(): void {
    if (!this.#stream.destroyed) this.#stream.resume()
  }

  close(): void {
    this.#drain()
    this.#stream.destroy()
  }

  #take(bytes: number): boolean {
    return this.#onChunk(new Uint8Array(buffer.subarray(0, bytes)))
  }

  /**
   * The stream ends when the last writer has closed the terminal, but a terminal returns one page per read: the kernel may still have output.
   */
  #drain(): void {
    if (this.#isDrained) return
    this.#isDrained = true
    try {
      for (let [bytes, left] = [read(this.#rest), MOST_LEFT_BYTES]; bytes > 0 && left > 0; bytes = read(this.#rest)) {
        left -= bytes
        this.#take(bytes)
      }
    } finally {
      closeSync(this.#rest)
    }
  }
}

/** 0 if there is no output or no writer. */
function read(fd: number): number {
  try {
    return readSync(fd, buffer)
  } catch {
    return 0
  }
}
