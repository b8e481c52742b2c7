import type { Socket } from 'node:net'

/** The cap of bytes that a client may send before the service has switched; more bytes wait in the kernel. */
const MAX_BYTES = 64 * 1024

export interface ReadAhead extends Disposable {
  /** Stops reading and returns the bytes that have arrived. */
  take(): Buffer
}

/**
 * Reads from a client that waits for an answer, because only a read detects that it disconnected. If a client ends its sending before
 * the switch, its socket is destroyed.
 */
export function readAhead(socket: Socket, head: Buffer): ReadAhead {
  const chunks = [head]
  let bytes = head.length
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MAX_BYTES) socket.pause()
  }
  const onEnd = (): void => void socket.destroy()
  socket.on('data', onData)
  socket.once('end', onEnd)
  // The socket may have been paused while the request waited for its turn.
  socket.resume()
  const stop = (): void => {
    socket.off('data', onData)
    socket.off('end', onEnd)
    socket.pause()
  }
  return {
    take() {
      stop()
      return Buffer.concat(chunks)
    },
    [Symbol.dispose]: stop,
  }
}
