import type { ServerResponse } from 'node:http'
import { deadlineExceeded, shuttingDown } from './rpc-error.ts'

export interface StreamLimits {
  readonly timeoutMs: number | undefined
  readonly shutdown: AbortSignal
}

/** Aborts with the AppError that the client is to be told, or with another reason when there is nobody to be told. */
export class StreamSignal implements Disposable {
  readonly #stop = new AbortController()
  readonly #shutdown: AbortSignal
  readonly #deadline: NodeJS.Timeout | undefined

  constructor(response: ServerResponse, { timeoutMs, shutdown }: StreamLimits) {
    this.#shutdown = shutdown
    if (timeoutMs === 0) this.#onDeadline()
    else if (timeoutMs !== undefined) this.#deadline = setTimeout(this.#onDeadline, timeoutMs)
    if (shutdown.aborted) this.#onShutdown()
    shutdown.addEventListener('abort', this.#onShutdown)
    response.once('close', () => this.#stop.abort('the client is gone'))
  }

  get signal(): AbortSignal {
    return this.#stop.signal
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#deadline)
    this.#shutdown.removeEventListener('abort', this.#onShutdown)
  }

  readonly #onDeadline = (): void => this.#stop.abort(deadlineExceeded())
  readonly #onShutdown = (): void => this.#stop.abort(shuttingDown())
}
