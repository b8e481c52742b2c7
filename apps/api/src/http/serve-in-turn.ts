import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

interface Turn {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** Far more than clients send ahead, and few enough to keep in memory. */
const MAX_WAITING = 100

/**
 * Serves the requests of each connection one at a time, in their order. Node would begin all that one read of the connection holds, more than
 * a thousand, before it looks at any other connection. A connection on which too many wait is ended. Call it before other listeners for
 * `request` are added.
 */
export function serveInTurn(server: Server): void {
  const listeners = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[]
  server.removeAllListeners('request')
  const lines = new WeakMap<Socket, Turn[]>()

  const serve = (socket: Socket, { request, response }: Turn): void => {
    if (socket.destroyed) return
    response.once('close', () => {
      const next = lines.get(socket)?.shift()
      // Not in this stack, which grows with each answer that is there at once.
      if (next === undefined) lines.delete(socket)
      else setImmediate(serve, socket, next)
    })
    for (const listener of listeners) listener.call(server, request, response)
  }

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    if (socket.destroyed) return
    const waiting = lines.get(socket)
    if (waiting === undefined) {
      lines.set(socket, [])
      serve(socket, { request, response })
    } else if (waiting.push({ request, response }) > MAX_WAITING) {
      lines.delete(socket)
      socket.destroy()
    }
  })
}
