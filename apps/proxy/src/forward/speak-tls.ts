import type { Socket } from 'node:net'
import { connect } from 'node:tls'
import { nestInTunnel } from './open-tunnel.ts'

const HANDSHAKE_TIMEOUT_MS = 10_000

/**
 * Speaks TLS on a connection to a service in a sandbox. Its certificate is not verified: the service is whatever listens there, with TLS as
 * without (clients-python-2.63.md 4).
 *
 * @throws the error of the handshake; the signal's reason when it aborts
 */
export function speakTls(socket: Socket, servername: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const secured = connect({ socket, servername, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
    nestInTunnel(secured, socket)
    const expired = setTimeout(() => secured.destroy(new Error('the TLS handshake timed out')), HANDSHAKE_TIMEOUT_MS)
    const abort = (): void => void secured.destroy(signal.reason as Error)
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
    const settle = (): void => {
      clearTimeout(expired)
      signal.removeEventListener('abort', abort)
    }
    const fail = (err: Error): void => {
      settle()
      socket.destroy()
      reject(err)
    }
    // The listeners stay: an error of a socket without a listener would end the process.
    secured.on('error', fail)
    secured.once('close', () => fail(new Error('the connection was closed in the TLS handshake')))
    secured.once('secureConnect', () => {
      settle()
      resolve(secured)
    })
  })
}
