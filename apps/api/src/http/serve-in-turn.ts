import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

interface Turn {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** More than clients send ahead, and few enough to keep in memory. */
const MAX_WAITING = 100

/**
 * Serves the requests of each connection one at a time, in their order. Without it Node starts all requests of one read of 64 KiB, which can
 * be thousands, before other connections get a turn. A connection on which too many requests wait is closed. Call it before other listeners
 * for `request` are added.
 */
export function serveInTurn(server: Server): void {
  const listeners = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[]
  server.removeAllListeners('request')
  const queues = new WeakMap<Socket, Turn[]>()

  const serve = (socket: Socket, { request, response }: Turn): void => {
    if (socket.destroyed) return
    response.once('close', () => {
      const next = queues.get(socket)?.shift()
      // A direct call would recurse once for each request that is answered synchronously.
      if (next === undefined) queues.delete(socket)
      else setImmediate(serve, socket, next)
    })
    for (const listener of listeners) listener.call(server, request, response)
  }

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    if (socket.destroyed) return
    const queue = queues.get(socket)
    if (queue === undefined) {
      queues.set(socket, [])
      serve(socket, { request, response })
    } else if (queue.push({ request, response }) > MAX_WAITING) {
      queues.delete(socket)
      destroyWithoutStacks(socket)
    }
  })
}

/**
 * When a connection closes, Node creates an error for each request that is not answered, also for those of the same read that come after
 * this call. The stack traces of these errors would be two thirds of the time that the requests cost.
 */
function destroyWithoutStacks(socket: Socket): void {
  const { stackTraceLimit } = Error
  // Node's own listener for `close`, which creates the errors, runs between these two in the same turn.
  socket.prependOnceListener('close', () => void (Error.stackTraceLimit = 0))
  socket.once('close', () => void (Error.stackTraceLimit = stackTraceLimit))
  socket.destroy()
}
