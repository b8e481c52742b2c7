import { connect, type Socket } from 'node:net'

const ADDRESSES = ['127.0.0.1', '::1'] as const
/** Nothing listens on the port, or the container does not have the address. */
const CLOSED: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'ENETUNREACH'])

/**
 * Connects to the server that listens on a port of localhost, over IPv4 or else IPv6 (envd.md 9). Undefined when there is none.
 *
 * @throws the abort reason, and the error of a connection that failed in another way
 */
export async function dialLoopback(port: number, signal: AbortSignal): Promise<Socket | undefined> {
  for (const host of ADDRESSES) {
    const socket = await dial(host, port, signal)
    if (socket !== undefined) return socket
  }
  return undefined
}

function dial(host: string, port: number, signal: AbortSignal): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error)
    const socket = connect({ host, port, allowHalfOpen: true })
    const abort = (): void => {
      socket.destroy()
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', abort)
    const settle = (): void => {
      signal.removeEventListener('abort', abort)
      socket.off('error', failed)
    }
    const failed = (err: NodeJS.ErrnoException): void => {
      settle()
      if (CLOSED.has(err.code)) resolve(undefined)
      else reject(err)
    }
    socket.once('error', failed)
    socket.once('connect', () => {
      settle()
      if (!isConnectedToItself(socket)) return resolve(socket)
      socket.resetAndDestroy()
      resolve(undefined)
    })
  })
}

/** The kernel may choose the dialled port as the local port. Without a listener the socket is then connected to itself. */
function isConnectedToItself({ localPort, remotePort, localAddress, remoteAddress }: Socket): boolean {
  return localPort === remotePort && localAddress === remoteAddress
}
