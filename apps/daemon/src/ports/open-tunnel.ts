import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { resetSocket } from '@sandyard/kit/net/reset-socket'
import { connectSockets } from '@sandyard/kit/net/connect-sockets'
import { dialLoopback } from './dial-loopback.ts'
import { readTunnelRequest, type TunnelRules } from './tunnel-request.ts'

export interface TunnelCall {
  readonly request: IncomingMessage
  readonly socket: Socket
  /** Bytes that arrived after the request's head. */
  readonly head: Buffer
}

/** The proxy's own deadline for a connection. Without one, a server whose accept queue is full would keep callers waiting for minutes. */
const DIAL_TIMEOUT_MS = 30_000
/** A killed proxy ends its direction only. With keepalive the kernel detects that, although the service keeps its side open. */
const KEEP_ALIVE_MS = 60_000
const REASONS = { 403: 'Forbidden', 407: 'Proxy Authentication Required', 502: 'Bad Gateway' } as const

/**
 * Serves one `CONNECT`: 200 and a byte stream to the server on localhost until both sides have ended; 502 if nothing listens there; 407
 * without the secret; 403 for a target that is not allowed. There is no time limit. Never rejects.
 *
 * @param shutdown resets the tunnel: an open one would keep the daemon from exiting
 */
export async function openTunnel({ request, socket, head }: TunnelCall, rules: TunnelRules, shutdown: AbortSignal): Promise<void> {
  const port = readTunnelRequest(request, rules)
  if (typeof port !== 'number') return refuse(socket, port.status)
  const gone = new AbortController()
  const onClose = (): void => gone.abort()
  socket.once('close', onClose)
  socket.setKeepAlive(true, KEEP_ALIVE_MS)
  const reset = (): void => resetSocket(socket)
  shutdown.addEventListener('abort', reset)
  try {
    const service = await dialLoopback(port, AbortSignal.any([gone.signal, AbortSignal.timeout(DIAL_TIMEOUT_MS)]))
    if (service === undefined) return refuse(socket, 502)
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    if (head.length > 0) service.write(head)
    await connectSockets(socket, service)
  } catch {
    // The client has disconnected or the kernel is out of connections: the answer is the same.
    refuse(socket, 502)
  } finally {
    shutdown.removeEventListener('abort', reset)
    socket.off('close', onClose)
  }
}

function refuse(socket: Socket, status: keyof typeof REASONS): void {
  socket.end(`HTTP/1.1 ${status} ${REASONS[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroySoon())
}
