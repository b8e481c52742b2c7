import { closeSync, readSync } from 'node:fs'
import { ReadStream } from 'node:tty'
import { duplicate } from '../sys/pseudo-terminal.ts'
import type { OutputChannel, TakeChunk } from './output-channel.ts'

/** The most that one data event carries (envd.md 8.5). */
const READ_BYTES = 16 * 1024

/** More than the kernel keeps for a terminal. A process that goes on writing is not read to its end, which may never come. */
const MOST_LEFT_BYTES = 128 * 1024

/** All terminals read into this one: a read and the callback that copies it out happen in one go. */
const buffer = Buffer.allocUnsafeSlow(READ_BYTES)

/** Reads what programs write to a terminal, until no process has it open any more. */
export class TerminalOutput implements OutputChannel {
  readonly closed: Promise<void>
  readonly #rest: number
  readonly #stream: ReadStream
  readonly #onChunk: TakeChunk
  #isDrained = false

  /**
   * @param master becomes this object's to close
   * @throws the system error where there can be no more descriptors; `master` is the caller's then
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
   * The stream takes the end of the last writer for the end of the output, but a terminal gives a page at a time, so there may be some left
   * in the kernel.
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

/** 0 where there is nothing, or nobody left who could write. */
function read(fd: number): number {
  try {
    return readSync(fd, buffer)
  } catch {
    return 0
  }
}
