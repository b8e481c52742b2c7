import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { EgressContext } from '../context.ts'
import { forwardRequest } from './forward-request.ts'
import { forwardUpgrade } from './forward-upgrade.ts'

const MAX_HEAD_BYTES = 64 * 1024
const KEEP_ALIVE_MS = 60_000

/**
 * Node's HTTP server for the connections of sandboxes, which are handed to it: it does not listen. It parses every request, so no bytes
 * reach a server that were not understood here (control-plane.md 18.5).
 */
export function createWebServer(ctx: () => EgressContext, idleTimeoutMs: number): Server {
  const options = {
    maxHeaderSize: MAX_HEAD_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: 0,
    requireHostHeader: false,
    // Another protocol after an upgrade could name other servers.
    shouldUpgradeCallback: isWebSocket,
  }
  const server = createServer(options, (req, res) => {
    const connection = ctx().web.find(req.socket)
    connection?.line.enter({ req, res, serve: () => forwardRequest(ctx(), connection, req, res) })
  })
  server.maxHeadersCount = 0
  // Node sets the timeout of a socket to this after each request.
  server.timeout = idleTimeoutMs
  // A client that has ended its sending still waits for its answer.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('checkContinue', (req, res) => server.emit('request', req, res))
  server.on('upgrade', (req, _, head) => {
    const connection = ctx().web.find(req.socket)
    connection?.line.enter({ req, serve: () => forwardUpgrade(ctx(), connection, req, head) })
  })
  server.on('connect', (req) => void req.socket.destroy())
  server.on('clientError', (err, socket) =>
    ctx()
      .web.find(socket as Socket)
      ?.line.enterMalformed(err),
  )
  return server
}

function isWebSocket({ headers, method }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}
