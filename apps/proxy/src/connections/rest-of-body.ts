import type { DownstreamRequest } from '../message/downstream-message.ts'

/** A client that goes on with a body after its answer has this long to end it. */
const REST_MS = 30_000

/**
 * Calls `done` when the rest of a body that nobody reads has arrived or its connection is closed: until then the head stays in memory. Closes the
 * connection when the rest takes too long.
 */
export function afterRestOfBody(req: DownstreamRequest, done: () => void): void {
  const { socket } = req
  if (req.complete || socket.destroyed) return done()
  const end = (): void => {
    clearTimeout(timer)
    req.off('end', end)
    socket.off('close', end)
    done()
  }
  const timer = setTimeout(() => socket.destroy(), REST_MS).unref()
  req.once('end', end)
  socket.once('close', end)
}
