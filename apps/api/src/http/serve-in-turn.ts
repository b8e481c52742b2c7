import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { RequestLine, type RequestLineOptions } from '@sandyard/kit/net/request-line'

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** More than clients pipeline, and few enough to keep in memory. */
const MAX_PIPELINED = 16

/**
 * Serves the requests of each connection one at a time, in order, and answers bytes that are not a request after the requests
 * before them. Replaces the listeners that the server has for `request` and `clientError`: call it before other listeners are added.
 */
export function serveInTurn(server: Server, options: Omit<RequestLineOptions, 'maxPipelined'>): void {
  const listeners = server.listeners('request') as Listener[]
  server.removeAllListeners('request')
  server.removeAllListeners('clientError')
  const lines = new WeakMap<Socket, RequestLine>()

  server.on('connection', (socket) => lines.set(socket, new RequestLine(socket, { ...options, maxPipelined: MAX_PIPELINED })))
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    const serve = (): Promise<void> => {
      const closed = new Promise<void>((resolve) => res.once('close', resolve))
      for (const listener of listeners) listener.call(server, req, res)
      return closed
    }
    lines.get(req.socket)?.enter({ req, res, serve })
  })
  server.on('clientError', (err, socket) => lines.get(socket as Socket)?.enterMalformed(err))
}
