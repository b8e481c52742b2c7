import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { PlainConnection, type PlainConnectionOptions } from './plain-connection.ts'

type Listener = () => void

export interface PlainConnectionsOptions extends Omit<PlainConnectionOptions, 'handOver'> {
  /** Called when Node's HTTP server has parsed bytes of a connection. */
  readonly onRead: (socket: Socket, bytes: Buffer) => void
}

/** Puts plain connections in front of the listener of Node's HTTP server. */
export class PlainConnections {
  readonly #open = new Map<Socket, PlainConnection>()
  readonly #options: PlainConnectionOptions
  readonly #onRead: (socket: Socket, bytes: Buffer) => void
  /** What Node does with a connection. */
  readonly #toNode: (socket: Socket) => void
  /** What Node does at the end of one. */
  readonly #endListeners = new WeakMap<Socket, Listener[]>()

  /** Takes the connections of `server`. Its listeners of `connection` must be added afterwards. */
  constructor(server: Server, { onRead, ...options }: PlainConnectionsOptions) {
    this.#onRead = onRead
    const ofNode = server.listeners('connection')
    server.removeAllListeners('connection')
    this.#toNode = (socket) => {
      for (const listener of ofNode) listener.call(server, socket)
    }
    this.#options = { ...options, handOver: (socket, bytes) => this.#handOver(socket, bytes) }
  }

  accept(socket: Socket): void {
    this.#open.set(socket, new PlainConnection(socket, this.#options))
    socket.once('close', () => this.#open.delete(socket))
  }

  /** For a connection that is not served in this way at all. */
  acceptByNode(socket: Socket): void {
    const before = new Set(socket.listeners('end'))
    this.#toNode(socket)
    const added = socket.listeners('end').filter((listener) => !before.has(listener))
    this.#endListeners.set(socket, added as Listener[])
    // With a listener Node reads the connection as a stream. Else its parser would get what the kernel has next before what was read by us.
    socket.on('data', (read: Buffer) => this.#onRead(socket, read))
  }

  /**
   * For a connection whose bytes are malformed, of which Node reads no more. At the end it would close the connection for sending, before the answers
   * of which it does not know: to an earlier plain request, and to the malformed bytes.
   */
  ignoreEnd(socket: Socket): void {
    for (const listener of this.#endListeners.get(socket) ?? []) socket.off('end', listener)
  }

  /** Closes connections without a request now, the others after their answers. */
  stop(): void {
    for (const connection of this.#open.values()) connection.stop()
  }

  destroyAll(): void {
    for (const socket of this.#open.keys()) socket.destroy()
  }

  #handOver(socket: Socket, bytes: Buffer): void {
    this.#open.delete(socket)
    socket.pause()
    this.acceptByNode(socket)
    socket.unshift(bytes)
    socket.resume()
  }
}
