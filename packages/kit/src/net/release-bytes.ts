/** Below this the collector is as good. */
const LARGE_BYTES = 16 * 1024

/**
 * Gives the memory of bytes that nobody reads any more back at once. Left to the collector, every 64 MiB of traffic would cost a
 * collection of the whole heap. Bytes that share their memory with others keep it.
 */
export function releaseBytes({ buffer, byteLength }: Buffer): void {
  const isOwn = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
  if (isOwn && byteLength >= LARGE_BYTES) buffer.transfer(0)
}
