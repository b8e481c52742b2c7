import type { Socket } from 'node:net'

/**
 * Breaks a connection off so that the other side cannot take it for an end, dropping what is not sent yet. A socket that is
 * being shut down is only closed: the kernel's library refuses to reset it then, and Node loses its descriptor over that.
 */
export function resetSocket(socket: Socket): void {
  const isShuttingDown = socket.writableEnded && !socket.writableFinished
  if (isShuttingDown || socket.destroyed) socket.destroy()
  else socket.resetAndDestroy()
}
