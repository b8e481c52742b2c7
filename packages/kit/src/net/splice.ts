import type { Socket } from 'node:net'
import { relayBytes } from './relay-bytes.ts'
import { resetSocket } from './reset-socket.ts'

/**
 * Connects two sockets byte for byte, at the pace of the slower one. One side's end of sending is passed on and the other direction
 * goes on; a side that breaks takes the other with it by a reset. Resolves when both are closed.
 */
export async function splice(a: Socket, b: Socket): Promise<void> {
  const ended = Promise.all([closed(a, b), closed(b, a)])
  pass(a, b)
  pass(b, a)
  await ended
}

function pass(from: Socket, to: Socket): void {
  relayBytes(from, to)
  // Whoever had it before may have paused it.
  if (!to.writableNeedDrain) from.resume()
  from.once('end', () => to.end())
}

/** Resolves when `socket` is closed; `peer` is reset unless both directions of `socket` ended in order. */
function closed(socket: Socket, peer: Socket): Promise<void> {
  // Else Node ends the other direction by itself.
  socket.allowHalfOpen = true
  socket.setTimeout(0)
  return new Promise((resolve) => {
    // The error of a broken connection; the close that follows says all that matters.
    socket.on('error', () => undefined)
    const onClose = (): void => {
      if (!socket.readableEnded || !socket.writableFinished) resetSocket(peer)
      resolve()
    }
    if (socket.closed) onClose()
    else socket.once('close', onClose)
  })
}
