import { connect, type Socket } from 'node:net'
import { once } from 'node:events'

/**
 * Connects to an address, at the first try.
 *
 * @throws the error of the system, or the abort reason
 */
export async function connectSocket(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  const socket = connect({ host, port, allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 })
  await untilReady(socket, 'connect', signal)
  return socket
}

/** Waits for an event of a socket that is being set up. If it fails the socket is destroyed. */
export async function untilReady(socket: Socket, event: 'connect' | 'secureConnect' | 'secure', signal: AbortSignal): Promise<void> {
  const abandoned = new AbortController()
  const closed = once(socket, 'close', { signal: abandoned.signal }).then(() => {
    throw new Error('the connection was closed')
  })
  closed.catch(() => undefined)
  try {
    await Promise.race([once(socket, event, { signal }), closed])
    // Its owner handles the close.
    socket.on('error', () => undefined)
  } catch (err) {
    socket.on('error', () => undefined)
    socket.destroy()
    throw err
  } finally {
    abandoned.abort()
  }
}
