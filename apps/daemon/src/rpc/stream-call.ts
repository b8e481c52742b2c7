import { Code, ConnectError, createContextKey, type HandlerContext } from '@connectrpc/connect'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { FastifyRequest } from 'fastify'
import { LONGEST_TIMER_MS } from './request-headers.ts'

/** The properties of a stream call that its handler needs. */
export interface StreamCall {
  /** Aborts when the stream must end. The reason is an AppError if it is sent to the client, and anything else if the client has disconnected. */
  readonly signal: AbortSignal
  /** The account that the request names (envd.md 3.4). */
  readonly basicUser: string | undefined
  /** The deadline of the call; 0 and undefined mean no limit for the process, although a stream with 0 ends at once (envd.md 6.6). */
  readonly timeoutMs: number | undefined
  /** The keepalive interval (envd.md 6.7). */
  readonly keepaliveMs: number
}

/** The HTTP request of a call. */
export const HTTP_REQUEST = createContextKey<FastifyRequest | undefined>(undefined)

const DEFAULT_KEEPALIVE_SECONDS = 90

/** The messages of a stream that is opened asynchronously. */
export async function* toMessages<E, M>(open: () => AsyncIterable<E> | Promise<AsyncIterable<E>>, toMessage: (event: E) => M) {
  for await (const event of await open()) yield toMessage(event)
}

export function toStreamCall(context: HandlerContext): StreamCall {
  // The library returns only the remaining time.
  const timeout = context.requestHeader.get('connect-timeout-ms')
  return {
    signal: hangUpSignal(context),
    basicUser: basicUserOf(context),
    timeoutMs: timeout === null ? context.timeoutMs() : Number(timeout),
    keepaliveMs: readKeepalive(context.requestHeader.get('keepalive-ping-interval')),
  }
}

export function basicUserOf({ values }: HandlerContext): string | undefined {
  return values.get(HTTP_REQUEST)?.basicUser
}

/**
 * Aborts with the call, and when the client has closed its side of the connection, which looks like a disconnect: so waits without a limit
 * end.
 */
export function hangUpSignal({ signal, values }: HandlerContext): AbortSignal {
  const stop = new AbortController()
  const socket = values.get(HTTP_REQUEST)?.raw.socket
  const onEnd = (): void => stop.abort('the client is gone')
  const onAbort = (): void => {
    socket?.off('end', onEnd)
    const { reason } = signal as { readonly reason: unknown }
    const isTimeout = reason instanceof ConnectError && reason.code === Code.DeadlineExceeded
    stop.abort(isTimeout ? new AppError('deadline_exceeded', 'context deadline exceeded') : reason)
  }
  socket?.once('end', onEnd)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  else if (socket?.readableEnded === true) onEnd()
  return stop.signal
}

/** Whole seconds; the default for any other value than a positive number. */
function readKeepalive(interval: string | null): number {
  const seconds = (/^\d+$/.test(interval ?? '') ? Number(interval) : 0) || DEFAULT_KEEPALIVE_SECONDS
  return Math.min(seconds * 1000, LONGEST_TIMER_MS)
}
