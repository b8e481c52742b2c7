import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/**
 * Resets a connection, so that the other side cannot read it as an orderly end. Unsent bytes are dropped. A socket that is
 * being shut down is only closed: libuv refuses to reset it then, and Node would leak its descriptor. So is one with TLS, which Node cannot
 * reset: its other side sees that the closing alert is missing.
 */
export function resetSocket(socket: Socket): void {
  const isShuttingDown = socket.writableEnded && !socket.writableFinished
  if (isShuttingDown || socket.destroyed || socket instanceof TLSSocket) socket.destroy()
  else socket.resetAndDestroy()
}
