import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { answerBrokenRequest } from './broken-requests.ts'

const deadlines = new WeakMap<IncomingMessage, NodeJS.Timeout>()

/**
 * Ends requests whose bodies take longer than `timeoutMs` (control-plane.md 1.2). Node's own limit for whole requests allows no exception,
 * which uploads need; its limit for headers stays.
 */
export function limitBodies(server: Server, timeoutMs: number): void {
  // Before the routes, so that the deadline exists when an upload lifts it.
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!hasBody(request)) return
    const deadline = setTimeout(() => endSlow(request, response), timeoutMs)
    deadlines.set(request, deadline)
    request.once('close', () => clearTimeout(deadline))
  })
}

/** Removes the deadline of a body whose reader has its own limits. */
export function liftBodyDeadline(request: IncomingMessage): void {
  clearTimeout(deadlines.get(request))
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function endSlow(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete) return
  if (response.headersSent) request.socket.destroy()
  else answerBrokenRequest(request.socket, Object.assign(new Error('the body took too long'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }))
}
