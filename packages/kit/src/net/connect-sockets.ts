import type { Socket } from 'node:net'
import { relayBytes } from './relay-bytes.ts'
import { resetSocket } from './reset-socket.ts'

/**
 * Connects two sockets byte for byte, at the pace of the slower one. When one side ends its sending, that end is passed on and the
 * other direction continues. When one side breaks, the other side is reset. Resolves when both are closed.
 */
export async function connectSockets(a: Socket, b: Socket): Promise<void> {
  const ended = Promise.all([closed(a, b), closed(b, a)])
  pass(a, b)
  pass(b, a)
  await ended
}

function pass(from: Socket, to: Socket): void {
  relayBytes(from, to)
  // Its former owner may have paused it.
  if (!to.writableNeedDrain) from.resume()
  from.once('end', () => to.end())
}

/** Resolves when `socket` is closed; `peer` is reset unless both directions of `socket` ended in order. */
function closed(socket: Socket, peer: Socket): Promise<void> {
  // Otherwise Node ends the other direction by itself.
  socket.allowHalfOpen = true
  socket.setTimeout(0)
  return new Promise((resolve) => {
    // A broken connection emits an error and then a close; only the close is used.
    socket.on('error', () => undefined)
    const onClose = (): void => {
      if (!socket.readableEnded || !socket.writableFinished) resetSocket(peer)
      resolve()
    }
    if (socket.closed) onClose()
    else socket.once('close', onClose)
  })
}
