import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { formatError } from './error-reply.ts'

/** How long a refused client may take to read why: a connection that is closed over unread bytes takes its answer with it. */
const LINGER_MS = 500

const STATUS_BY_CODE: ReadonlyMap<string | undefined, number> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
  ['HPE_HEADER_OVERFLOW', 431],
])

interface HttpExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

const latestExchanges = new WeakMap<Socket, HttpExchange>()
const keptBodies = new WeakMap<IncomingMessage, { isCut: boolean }>()
const faultySockets = new WeakSet<Socket>()

/**
 * Ends the body of this request where the client breaks off, and lets the route answer: `isCut` says at its end whether that was so.
 * All other requests are refused then, and fail. Repeated calls are one.
 */
export function keepCutBody(request: IncomingMessage): { readonly isCut: boolean } {
  const kept = keptBodies.get(request) ?? { isCut: false }
  keptBodies.set(request, kept)
  return kept
}

/** Has `answerClientError` know what each connection is about. */
export function trackExchanges(server: Server): void {
  server.on('request', (request, response) => latestExchanges.set(request.socket, { request, response }))
}

/** Answers what is no HTTP, or ends too early, with the error body of envd.md 2.4, and closes the connection. Answers under way are not disturbed. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // The parser fails again at each piece that follows.
  if (socket.destroyed || faultySockets.has(socket)) return
  faultySockets.add(socket)
  const exchange = latestExchanges.get(socket)
  if (exchange === undefined) return refuse(error, socket)
  const { request, response } = exchange
  if (request.complete) return afterAnswer(response, () => refuse(error, socket))
  if (response.writableEnded) return afterAnswer(response, () => socket.destroySoon())
  if (response.headersSent) return void socket.destroy()
  const kept = keptBodies.get(request)
  if (error.code !== 'HPE_INVALID_EOF_STATE' || kept === undefined) return refuse(error, socket)
  response.setHeader('Connection', 'close')
  afterAnswer(response, () => socket.destroySoon())
  kept.isCut = true
  // The end of an incomplete request would take the connection with it, and the answer.
  request.complete = true
  request.push(null)
}

function afterAnswer(response: ServerResponse, act: () => void): void {
  if (response.writableFinished || response.destroyed) act()
  else response.once('close', act)
}

function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable) return void socket.destroy()
  const status = STATUS_BY_CODE.get(error.code) ?? 400
  const reason = STATUS_CODES[status] ?? ''
  const body = formatError(status, reason)
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    'Content-Type: application/json; charset=utf-8',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  if (socket.readableEnded || error.code === 'HPE_INVALID_EOF_STATE') return socket.destroySoon()
  const linger = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(linger))
}
