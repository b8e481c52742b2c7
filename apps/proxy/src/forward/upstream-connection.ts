import type { Socket } from 'node:net'

/** What serves a request on a connection, and receives what happens on it meanwhile. */
export interface ConnectionUser {
  onData(bytes: Buffer): void
  /** The sandbox has ended its sending. */
  onEnd(): void
  /** The buffer of the connection has room again. */
  onDrain(): void
  /** No other call follows. */
  onClose(err: Error | undefined): void
}

/**
 * An open connection to a port of a sandbox. It serves one request after another. Bytes, or an end, that come between two requests close it,
 * because they cannot belong to an answer.
 */
export class UpstreamConnection {
  readonly socket: Socket
  /** It has been idle before. */
  isReused = false
  #user: ConnectionUser | undefined
  #error: Error | undefined

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (bytes) => (this.#user === undefined ? this.destroy() : this.#user.onData(bytes)))
    socket.on('end', () => (this.#user === undefined ? this.destroy() : this.#user.onEnd()))
    socket.on('drain', () => this.#user?.onDrain())
    socket.on('error', (err) => (this.#error = err))
    socket.once('close', () => this.#user?.onClose(this.#error))
  }

  get isIdle(): boolean {
    return this.#user === undefined
  }

  /** Gives it to one request, until `leave`. */
  enter(user: ConnectionUser): void {
    this.#user = user
    if (this.socket.closed) user.onClose(this.#error)
  }

  leave(): void {
    this.#user = undefined
  }

  destroy(): void {
    this.socket.destroy()
  }
}
