import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { RequestFacts } from '@sandyard/kit/tracing/request-facts'
import { formatHead, type RawHead } from '../message/head.ts'
import { requestIdHeader } from '../request-scope.ts'

/** How long a client may take to read its last answer. */
const LINGER_MS = 2000
const TEXT = ['Content-Type', 'text/plain; charset=utf-8']

const MALFORMED: Readonly<Record<string, readonly [status: number, text: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The request headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large'],
  ERR_TOO_MANY_HEADS: [503, 'Too many request headers have arrived only in part'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request headers took too long'],
}

/** Answers bytes that are not an HTTP request, and closes the connection. */
export function answerMalformed(socket: Socket, { code = '' }: NodeJS.ErrnoException): void {
  const [status, text] = MALFORMED[code] ?? [400, 'Bad request']
  endWithAnswer(socket, { status, headers: [...TEXT, 'X-Request-ID', new RequestFacts().id] }, text)
}

export function refuseConnect(req: IncomingMessage): void {
  endWithAnswer(req.socket, { status: 405, headers: [...TEXT, ...requestIdHeader(req)] }, 'CONNECT is not supported')
}

/** Writes a whole answer and closes the connection. */
export function endWithAnswer(socket: Socket, head: RawHead, body: string): void {
  const headers = [...head.headers, 'Content-Length', String(Buffer.byteLength(body)), 'Connection', 'close']
  socket.write(formatHead({ ...head, headers }) + body)
  endAndLinger(socket)
}

/**
 * Ends a socket so that the client receives what was written. Bytes that the client still sends are read and dropped for a short time:
 * a close with unread bytes resets the connection, and the answer would be lost.
 */
export function endAndLinger(socket: Socket): void {
  socket.end()
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('end', () => socket.destroySoon())
  socket.once('close', () => clearTimeout(timer))
}
