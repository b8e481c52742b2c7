import type { Writable } from 'node:stream'
import { type FileContent, ReadFailure } from './file-content.ts'
import { MemoryShare } from './memory-share.ts'
import type { ByteRange } from './ranges.ts'

const MAX_CHUNK_BYTES = 256 * 1024

/** A piece of a download: bytes in memory, a range of the file, or the whole file of unknown size. */
export type Piece = Buffer | ByteRange | 'everything'

/**
 * Writes the pieces of a download in order and closes the file, also on failure. Memory is bounded however slow the client is.
 *
 * @throws ReadFailure; Error if the destination is closed
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

/** Two buffers serve a whole download: one is filled while the other is written. A new one for each chunk would be left to the garbage collector. */
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
      if (bytes === 0) throw new ReadFailure('the file became shorter while it was sent')
      sent += bytes
    }
  }

  async sendAll(): Promise<void> {
    // If the size is unknown, `start` was read sequentially and the file offset is behind it.
    let sent = this.#content.size === undefined ? this.#content.start.length : 0
    if (sent > 0) await write(this.#destination, this.#content.start)
    for (let bytes = 1; bytes > 0; sent += bytes) bytes = await this.#send(sent, Infinity)
  }

  async allLeft(): Promise<void> {
    await Promise.all(this.#leaving)
  }

  /** Sends up to `limit` bytes from a position and resolves to their number. The write may still be in flight then. */
  async #send(position: number, limit: number): Promise<number> {
    const turn = this.#turn
    this.#turn = turn === 0 ? 1 : 0
    await this.#leaving[turn]
    const whole = this.#buffers[turn]
    const buffer = whole.subarray(0, Math.min(limit, whole.length))
    const bytes = await this.#content.readInto(buffer, position)
    if (bytes > 0) this.#leaving[turn] = write(this.#destination, buffer.subarray(0, bytes))
    // The rejection is handled when the buffer is needed again, or at the end.
    this.#leaving[turn].catch(() => undefined)
    return bytes
  }
}

/**
 * Resolves when the bytes are written, so that their buffer is free. Rejects when the destination closes: Node's response drops a write,
 * and never calls back, after its socket was destroyed and before it emits `close`.
 */
function write(destination: Writable, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const onClose = (): void => reject(new Error('the connection closed'))
    destination.once('close', onClose)
    destination.write(bytes, (error) => {
      destination.off('close', onClose)
      if (error) reject(error)
      else resolve()
    })
  })
}
