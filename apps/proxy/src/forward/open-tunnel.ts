import { request, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { resetSocket } from '@sandyard/kit/net/reset-socket'

export interface TunnelTarget {
  /** The address of the daemon. */
  readonly host: string
  readonly daemonPort: number
  /** On localhost, inside the sandbox. */
  readonly port: number
  readonly secret: string
}

const KEEP_ALIVE_MS = 20_000

/** Tunnels, and TLS connections inside of them, with the connection to the daemon. */
const tunnels = new WeakMap<Socket, Socket>()

/** There is no tunnel: nothing listens on the port, or the daemon does not support tunnels. */
class TunnelRefused extends Error {
  override readonly name = 'TunnelRefused'
  /** The code of any other refused connection. */
  readonly code = 'ECONNREFUSED'
}

/**
 * Asks the daemon of a sandbox for a connection to a port of its localhost (docs/decisions/008-localhost-ports.md). Clients cannot ask
 * for one: the proxy forwards no `CONNECT`, and no client receives the secret.
 *
 * @throws an error with the code `ECONNREFUSED` when there is none; the signal's reason when it aborts
 */
export function openTunnel({ host, daemonPort, port, secret }: TunnelTarget, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error)
    const headers = { Host: `localhost:${port}`, 'Proxy-Authorization': `Bearer ${secret}` }
    const ask = request({ host, port: daemonPort, method: 'CONNECT', path: `localhost:${port}`, headers, agent: false })
    const abort = (): void => {
      ask.destroy()
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', abort)
    const settle = (): void => signal.removeEventListener('abort', abort)
    const refuse = (cause: Error): void => {
      settle()
      reject(isReset(cause) ? new TunnelRefused('the daemon opens no tunnels', { cause }) : cause)
    }
    ask.on('error', refuse)
    ask.once('connect', (answer: IncomingMessage, socket: Socket, head: Buffer) => {
      settle()
      if (answer.statusCode !== 200) {
        socket.destroy()
        return reject(new TunnelRefused(`the daemon answered ${String(answer.statusCode)}`))
      }
      socket.setKeepAlive(true, KEEP_ALIVE_MS)
      // A service may send first. Its bytes wait until the owner of the connection listens.
      socket.pause()
      if (head.length > 0) socket.unshift(head)
      setImmediate(() => socket.resume())
      tunnels.set(socket, socket)
      resolve(socket)
    })
    ask.end()
  })
}

/**
 * Breaks a connection to a sandbox. A tunnel is reset, because the daemon would wait for a service that ignores half-closes and keep both
 * connections.
 */
export function breakOff(socket: Socket): void {
  const tunnel = tunnels.get(socket)
  if (tunnel === undefined || tunnel !== socket) socket.destroy()
  if (tunnel !== undefined) resetSocket(tunnel)
}

/** `inner` is a connection through `outer`. */
export function nestInTunnel(inner: Socket, outer: Socket): void {
  const tunnel = tunnels.get(outer)
  if (tunnel !== undefined) tunnels.set(inner, tunnel)
}

/** A daemon without tunnels closes the connection. */
function isReset(err: NodeJS.ErrnoException): boolean {
  return err.code === 'ECONNRESET'
}
