import type { Socket } from 'node:net'

/**
 * Resets a connection, so that the other side cannot read it as an orderly end. Unsent bytes are dropped. A socket that is
 * being shut down is only closed: libuv refuses to reset it then, and Node would leak its descriptor.
 */
export function resetSocket(socket: Socket): void {
  const isShuttingDown = socket.writableEnded && !socket.writableFinished
  if (isShuttingDown || socket.destroyed) socket.destroy()
  else socket.resetAndDestroy()
}
