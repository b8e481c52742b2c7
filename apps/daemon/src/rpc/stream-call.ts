import type { AppError } from '@sandyard/kit/errors/app-error'
import { LONGEST_TIMER_MS } from './normalise-headers.ts'

/** What the handler of a server stream knows of its call, whatever serves the wire. */
export interface StreamCall {
  /** Aborts when the stream is over. Its reason is an AppError where the client is to be told why, and anything else where it is gone. */
  readonly signal: AbortSignal
  /** The account that the request names. */
  readonly basicUser: string | undefined
  /** The time that the call may take; 0 and undefined are none, though a stream of 0 is over at once (envd.md 6.6). */
  readonly timeoutMs: number | undefined
  /** How long a stream may be silent (envd.md 6.7). */
  readonly keepaliveMs: number
}

/** Why streams end when the daemon does: a code that makes clients look whether the sandbox is still there. */
export const SHUTTING_DOWN = ['unavailable', 'the sandbox is shutting down'] as const satisfies ConstructorParameters<typeof AppError>
export const DEADLINE_EXCEEDED = ['deadline_exceeded', 'context deadline exceeded'] as const satisfies ConstructorParameters<
  typeof AppError
>

const DEFAULT_KEEPALIVE_SECONDS = 90

/** The times that headers ask for. Whole seconds of keepalive; what is no positive number of them means the default. */
export function readTimes(header: (name: string) => string | null | undefined): Pick<StreamCall, 'timeoutMs' | 'keepaliveMs'> {
  const timeout = header('connect-timeout-ms')
  const keepalive = header('keepalive-ping-interval') ?? ''
  const seconds = (/^\d+$/.test(keepalive) ? Number(keepalive) : 0) || DEFAULT_KEEPALIVE_SECONDS
  return { timeoutMs: timeout ? Number(timeout) : undefined, keepaliveMs: Math.min(seconds * 1000, LONGEST_TIMER_MS) }
}
