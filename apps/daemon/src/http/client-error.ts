import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { formatError } from './json-reply.ts'

/** How long a refused client may take to read the answer: closing a connection with unread bytes resets it, and the answer is lost. */
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
 * If the client breaks off, the body of this request ends there and the route answers; `isCut` then says so at the end of the body. Other
 * requests that break off are refused. Idempotent.
 */
export function keepCutBody(request: IncomingMessage): { readonly isCut: boolean } {
  const kept = keptBodies.get(request) ?? { isCut: false }
  keptBodies.set(request, kept)
  return kept
}

/** Remembers the latest request and response of each connection for `answerClientError`. */
export function trackExchanges(server: Server): void {
  server.on('request', (request, response) => latestExchanges.set(request.socket, { request, response }))
}

/** Answers malformed and truncated requests with the error body of envd.md 2.4 and closes the connection. Answers in flight are sent first. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // The parser fails again at each chunk that follows.
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
  // Node closes the connection when an incomplete request ends, before the answer is sent.
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
