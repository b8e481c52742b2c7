import type { Writable } from 'node:stream'
import type { FileContent } from './file-content.ts'
import { MemoryShare } from './memory-share.ts'
import type { ByteRange } from './ranges.ts'

const MAX_CHUNK_BYTES = 256 * 1024

/** A piece of a download: bytes at hand, a part of the file, or all of it up to wherever it ends. */
export type Piece = Buffer | ByteRange | 'everything'

/**
 * Writes the pieces of a download in turn and closes the file, whatever comes of it. Memory stays flat however fast the disk and
 * however slow the client.
 *
 * @throws Error when the destination is gone, and when the file has become shorter than a part of it
 */
export async function pumpContent(content: FileContent, pieces: readonly Piece[], destination: Writable): Promise<void> {
  using share = new MemoryShare()
  const pump = new Pump(content, destination, Math.min(MAX_CHUNK_BYTES, share.bytes / 2))
  try {
    for (const piece of pieces) {
      if (piece === 'everything') await pump.sendAll()
      else if (Buffer.isBuffer(piece)) await write(destination, piece)
      else await pump.sendPart(piece)
    }
    await pump.allLeft()
  } finally {
    await content[Symbol.asyncDispose]()
  }
}

/** Two buffers serve for the whole of a download: one is filled while the other leaves. A fresh one for each chunk would wait for the garbage collector. */
class Pump {
  readonly #content: FileContent
  readonly #destination: Writable
  readonly #buffers: readonly [Buffer, Buffer]
  readonly #leaving: [Promise<void>, Promise<void>] = [Promise.resolve(), Promise.resolve()]
  #turn: 0 | 1 = 0

  constructor(content: FileContent, destination: Writable, chunkBytes: number) {
    this.#content = content
    this.#destination = destination
    this.#buffers = [Buffer.allocUnsafeSlow(chunkBytes), Buffer.allocUnsafeSlow(chunkBytes)]
  }

  async sendPart({ start, length }: ByteRange): Promise<void> {
    for (let sent = 0; sent < length;) {
      const bytes = await this.#send(start + sent, length - sent)
      if (bytes === 0) throw new Error('the file became shorter while it was sent')
      sent += bytes
    }
  }

  async sendAll(): Promise<void> {
    // Where the size is not known, the start was read from where the file now stands.
    let sent = this.#content.size === undefined ? this.#content.start.length : 0
    if (sent > 0) await write(this.#destination, this.#content.start)
    for (let bytes = 1; bytes > 0; sent += bytes) bytes = await this.#send(sent, Infinity)
  }

  async allLeft(): Promise<void> {
    await Promise.all(this.#leaving)
  }

  /** Sends up to `limit` bytes from a position, and says how many. They may still be leaving then. */
  async #send(position: number, limit: number): Promise<number> {
    const turn = this.#turn
    this.#turn = turn === 0 ? 1 : 0
    await this.#leaving[turn]
    const whole = this.#buffers[turn]
    const buffer = whole.subarray(0, Math.min(limit, whole.length))
    const bytes = await this.#content.readInto(buffer, position)
    if (bytes > 0) this.#leaving[turn] = write(this.#destination, buffer.subarray(0, bytes))
    // A failure is met with when the buffer is needed again, or in the end.
    this.#leaving[turn].catch(() => undefined)
    return bytes
  }
}

/** Resolves when the bytes have left, so that their buffer is free. */
function write(destination: Writable, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    destination.write(bytes, (error) => (error ? reject(error) : resolve()))
  })
}
