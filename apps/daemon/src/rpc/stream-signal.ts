import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { deadlineExceeded, shuttingDown } from './rpc-error.ts'

export interface StreamLimits {
  readonly timeoutMs: number | undefined
  readonly shutdown: AbortSignal
}

/**
 * Aborts with the AppError that the client is to be told, or with another reason when there is nobody to be told. A client that closes its
 * side of the connection counts as gone: from here that looks as if it had closed both.
 */
export class StreamSignal implements Disposable {
  readonly #stop = new AbortController()
  readonly #shutdown: AbortSignal
  readonly #socket: Socket | null
  readonly #deadline: NodeJS.Timeout | undefined

  constructor(response: ServerResponse, { timeoutMs, shutdown }: StreamLimits) {
    this.#shutdown = shutdown
    this.#socket = response.socket
    if (timeoutMs === 0) this.#onDeadline()
    else if (timeoutMs !== undefined) this.#deadline = setTimeout(this.#onDeadline, timeoutMs)
    if (shutdown.aborted) this.#onShutdown()
    shutdown.addEventListener('abort', this.#onShutdown)
    if (this.#socket?.readableEnded === true) this.#onGone()
    this.#socket?.once('end', this.#onGone)
    response.once('close', this.#onGone)
  }

  get signal(): AbortSignal {
    return this.#stop.signal
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#deadline)
    this.#shutdown.removeEventListener('abort', this.#onShutdown)
    this.#socket?.off('end', this.#onGone)
  }

  readonly #onDeadline = (): void => this.#stop.abort(deadlineExceeded())
  readonly #onGone = (): void => this.#stop.abort('the client is gone')
  readonly #onShutdown = (): void => this.#stop.abort(shuttingDown())
}
