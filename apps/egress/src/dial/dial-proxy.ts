import { isIPv4, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { SocksClient } from 'socks'
import { orGivenUp } from '@sandyard/kit/async/within'
import type { ProxySettings } from '../policy/compile-policy.ts'
import { connectSocket, untilReady } from './connect-socket.ts'
import { DialError } from './dial-error.ts'
import type { DialParts } from './dial.ts'

export interface ProxyTarget {
  /** A name or an IPv4 address. */
  readonly host: string
  readonly port: number
  readonly signal: AbortSignal
}

/**
 * Connects to a server through the SOCKS5 proxy of a sandbox (control-plane.md 18.6; TLS: clients-python-2.63.md 6). The proxy's name is
 * looked up by this host, because the sandbox's owner chose the proxy, and its address must not be closed.
 *
 * @throws DialError `proxy_failed`
 */
export async function dialProxy(parts: DialParts, proxy: ProxySettings, target: ProxyTarget): Promise<Socket> {
  try {
    const socket = await connectProxy(parts, proxy, target.signal)
    return await negotiate(socket, proxy, target)
  } catch (err) {
    // Errors of the library have the password.
    throw new DialError('proxy_failed', String(err))
  }
}

async function connectProxy({ closed, resolve }: DialParts, { host, port, tls }: ProxySettings, signal: AbortSignal): Promise<Socket> {
  const addresses = isIPv4(host) ? [host] : await orGivenUp(resolve(host, []), signal, 0)
  const address = addresses.find((found) => !closed.isClosed(found, port))
  if (address === undefined) throw new Error('the proxy has no address that is open')
  const socket = await connectSocket(address, port, signal)
  if (tls === undefined) return socket
  const { serverName: servername, caCert } = tls
  const secured = connectTls({
    socket,
    ...(isIPv4(servername) ? { host: servername } : { servername }),
    ...(caCert !== undefined && { ca: caCert }),
    minVersion: 'TLSv1.2',
  })
  await untilReady(secured, 'secureConnect', signal)
  return secured
}

/** Asks the proxy for a connection. The returned socket is paused. */
async function negotiate(existing: Socket, { credentials }: ProxySettings, { host, port, signal }: ProxyTarget): Promise<Socket> {
  const abort = (): void => void existing.destroy()
  signal.addEventListener('abort', abort)
  try {
    signal.throwIfAborted()
    const { socket } = await SocksClient.createConnection({
      command: 'connect',
      destination: { host, port },
      existing_socket: existing,
      proxy: {
        // Not used, because the socket exists; the library requires one.
        host: 'proxy',
        port: 1,
        type: 5,
        ...(credentials && { userId: credentials.username, password: credentials.password.reveal() }),
      },
    })
    await keepEarlyBytes(socket)
    return socket
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** The library emits bytes that came with the proxy's last answer, and resumes the socket, one turn after the connection: they are put back. */
async function keepEarlyBytes(socket: Socket): Promise<void> {
  const early: Buffer[] = []
  const onData = (chunk: Buffer): number => early.push(chunk)
  socket.on('data', onData)
  await setImmediate()
  socket.pause()
  socket.off('data', onData)
  if (early.length > 0 && !socket.readableEnded) socket.unshift(Buffer.concat(early))
}
