import type { Socket } from 'node:net'

export interface HalfOpenLimits {
  /** With bytes that the client has not taken. */
  readonly halfOpenTimeoutMs: number
  /** With nothing to send. */
  readonly cancelTimeoutMs: number
}

/** A stall of the event loop shows in one look: what has arrived meanwhile is read before the next one. */
const LOOKS = 2

const watched = new WeakMap<Socket, () => void>()

/**
 * Closes a connection whose client has ended its sending and gets nothing any more. A client that cancels its request closes its connection, which
 * looks like a half-close until a write fails. Upstream's server ends such requests at once; here a client that only has nothing more to send gets an
 * answer that comes soon.
 */
export function watchHalfOpen(socket: Socket, limits: HalfOpenLimits): void {
  const onEnd = (): void => lookAtWrites(socket, limits)
  socket.once('end', onEnd)
  watched.set(socket, onEnd)
}

/** For a connection that has switched to another protocol: its service is told of the end, and decides how long it answers. */
export function unwatchHalfOpen(socket: Socket): void {
  const onEnd = watched.get(socket)
  if (onEnd !== undefined) socket.off('end', onEnd)
}

function lookAtWrites(socket: Socket, { halfOpenTimeoutMs, cancelTimeoutMs }: HalfOpenLimits): void {
  socket.setTimeout(halfOpenTimeoutMs)
  let written = socket.bytesWritten
  let idleLooks = 0
  const look = (): void => {
    const isIdle = socket.writableLength === 0 && socket.bytesWritten === written
    written = socket.bytesWritten
    idleLooks = isIdle ? idleLooks + 1 : 0
    if (idleLooks >= LOOKS) socket.destroy()
  }
  const timer = setInterval(look, Math.ceil(cancelTimeoutMs / LOOKS)).unref()
  socket.once('close', () => clearInterval(timer))
}
