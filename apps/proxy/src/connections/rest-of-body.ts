import type { DownstreamRequest } from '../message/downstream-message.ts'

export interface RestOfBody {
  /** How long the client may take to end the body. */
  readonly timeoutMs: number
  /** Whether the connection still serves an earlier request. Then this one has no answer, because its body is malformed. */
  readonly isServing: () => boolean
  /** Called once, when the body has ended or its connection is closed: until then the head stays in memory. */
  readonly done: () => void
}

/** Waits for the rest of a body that nobody reads. Closes the connection when it takes too long. */
export function awaitRestOfBody(req: DownstreamRequest, { timeoutMs, isServing, done }: RestOfBody): void {
  const { socket } = req
  if (req.complete || socket.destroyed) return done()
  const end = (): void => {
    clearTimeout(timer)
    req.off('end', end)
    socket.off('close', end)
    done()
  }
  const expire = (): void => {
    if (!isServing()) socket.destroy()
  }
  const timer = setTimeout(expire, timeoutMs).unref()
  req.once('end', end)
  socket.once('close', end)
}
