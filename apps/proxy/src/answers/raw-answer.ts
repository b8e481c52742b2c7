import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { toPairs } from '../forward/headers.ts'

/** How long a client may take to read its last answer. */
const LINGER_MS = 2000

export interface RawHead {
  readonly status: number
  readonly reason?: string | undefined
  /** Name, value, name, value. */
  readonly headers: readonly string[]
}

/** The head of an answer, for sockets that have left Node's HTTP server. */
export function formatHead({ status, reason, headers }: RawHead): string {
  const lines = toPairs(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${reason ?? STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`
}

/** Writes a whole answer and closes the connection. */
export function endWithAnswer(socket: Socket, head: RawHead, body: string): void {
  const headers = [...head.headers, 'Content-Length', String(Buffer.byteLength(body)), 'Connection', 'close']
  socket.write(formatHead({ ...head, headers }) + body)
  endAndLinger(socket)
}

/**
 * Ends a socket so that the client gets what was written: what it still sends is read and dropped for a moment, because closing
 * over unread bytes resets the connection and takes the answer with it.
 */
export function endAndLinger(socket: Socket): void {
  socket.end()
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('end', () => socket.destroySoon())
  socket.once('close', () => clearTimeout(timer))
}
