/** Below this size the garbage collector is as good. */
export const LARGE_BYTES = 16 * 1024

/**
 * Frees at once the memory of bytes that nobody reads any more. If the garbage collector did this, every 64 MiB of traffic would cost a
 * collection of the whole heap. Bytes that share their memory with other bytes are not freed.
 */
export function releaseBytes({ buffer, byteLength }: Buffer): void {
  const isOwn = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
  if (isOwn && byteLength >= LARGE_BYTES) buffer.transfer(0)
}
