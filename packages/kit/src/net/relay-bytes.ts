import type { Readable, Writable } from 'node:stream'
import { LARGE_BYTES, releaseBytes } from './release-bytes.ts'

/** Below this size a copy of bytes into the text before them, for one write, is cheaper than a write of two pieces. */
export const SMALL_BYTES = 4096

/**
 * Copies bytes to the other side, at its pace. Unlike `pipe`, it frees the memory of each large chunk as soon as the kernel has
 * taken it. If the garbage collector did this, every 64 MiB of traffic would cost a collection of the whole heap.
 *
 * It ends neither side, and stops when the other side is closed.
 */
export function relayBytes(from: Readable, to: Writable): void {
  const onData = (chunk: Buffer): void => {
    if (!writeAndRelease(to, chunk)) from.pause()
  }
  const onDrain = (): void => void from.resume()
  from.on('data', onData)
  to.on('drain', onDrain)
  to.once('close', () => {
    from.off('data', onData)
    to.off('drain', onDrain)
    from.pause()
  })
}

/** A `Writable`, or what writes like one. */
export interface ByteWriter {
  write(chunk: Buffer, written?: (err?: Error | null) => void): boolean
}

/** Writes bytes that nobody else reads, and frees their memory when the kernel has taken them. Returns false like `write`. */
export function writeAndRelease(to: ByteWriter, chunk: Buffer): boolean {
  if (chunk.length < LARGE_BYTES) return to.write(chunk)
  return to.write(chunk, (err) => {
    if (!err) releaseBytes(chunk)
  })
}
