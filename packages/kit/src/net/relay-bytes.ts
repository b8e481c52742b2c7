import type { Readable, Writable } from 'node:stream'
import { releaseBytes } from './release-bytes.ts'

/**
 * Passes what arrives to the other side, at its pace. Unlike `pipe`, it gives the memory of each large part back as soon as the
 * part is in the kernel: left to the collector, every 64 MiB of traffic would cost a collection of the whole heap.
 *
 * It ends neither side, and stops when the other is closed.
 */
export function relayBytes(from: Readable, to: Writable): void {
  const onData = (chunk: Buffer): void => {
    const hasRoom = to.write(chunk, (err) => {
      if (!err) releaseBytes(chunk)
    })
    if (!hasRoom) from.pause()
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
