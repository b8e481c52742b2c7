import type { DescMethodUnary } from '@bufbuild/protobuf'
import { type ContextValues, createContextValues, type HandlerContext } from '@connectrpc/connect'
import type { FastifyRequest } from 'fastify'
import { HTTP_REQUEST } from './stream-call.ts'

/**
 * What an implementation gets to know about a plain call. Most need only the values, so the rest is made when it is asked for. Disposing of it
 * aborts the signal, as the library does at the end of a call.
 */
export class PlainContext implements HandlerContext, Disposable {
  readonly method: DescMethodUnary
  readonly protocolName = 'connect'
  readonly requestMethod = 'POST'
  readonly values: ContextValues
  readonly #request: FastifyRequest
  readonly #shutdown: AbortSignal
  #stop: AbortController | undefined
  #requestHeader: Headers | undefined

  constructor(method: DescMethodUnary, request: FastifyRequest, shutdown: AbortSignal) {
    this.method = method
    this.values = createContextValues().set(HTTP_REQUEST, request)
    this.#request = request
    this.#shutdown = shutdown
  }

  get service(): HandlerContext['service'] {
    return this.method.parent
  }

  get url(): string {
    return this.#request.url
  }

  /** Aborts when the client has disconnected or the daemon is about to exit. */
  get signal(): AbortSignal {
    if (this.#stop !== undefined) return this.#stop.signal
    const stop = (this.#stop = new AbortController())
    const onShutdown = (): void => stop.abort(this.#shutdown.reason)
    const { socket } = this.#request.raw
    const onClose = (): void => stop.abort()
    socket.once('close', onClose)
    this.#shutdown.addEventListener('abort', onShutdown)
    stop.signal.addEventListener('abort', () => {
      socket.off('close', onClose)
      this.#shutdown.removeEventListener('abort', onShutdown)
    })
    if (this.#shutdown.aborted) onShutdown()
    else if (socket.destroyed) onClose()
    return stop.signal
  }

  get requestHeader(): Headers {
    const { headers } = this.#request.raw
    return (this.#requestHeader ??= new Headers(Object.entries(headers).map(([name, value]) => [name, String(value)])))
  }

  get responseHeader(): Headers {
    return new Headers()
  }

  get responseTrailer(): Headers {
    return new Headers()
  }

  timeoutMs(): undefined {
    return undefined
  }

  [Symbol.dispose](): void {
    this.#stop?.abort()
  }
}
