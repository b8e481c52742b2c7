import { AppError } from '@sandyard/kit/errors/app-error'
import type { ErrorKind } from '@sandyard/kit/errors/kinds'

/** What the engine says when the host is full, in any of its wordings. */
const NO_SPACE = /no space left on device|ENOSPC|disk quota exceeded/i
const NO_ROOM = /no available IPv4 addresses|address pools|cannot allocate memory|resource temporarily unavailable|too many open files/i

const CONNECTION_CODES = new Set('ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN'.split(' '))

const KIND_OF_STATUS: Readonly<Record<number, ErrorKind>> = { 404: 'not_found', 409: 'conflict', 503: 'unavailable' }

const MESSAGE_OF_KIND: Partial<Record<ErrorKind, string>> = {
  unavailable: 'The Docker engine cannot be reached.',
  insufficient_storage: 'The disk of the Docker engine is full.',
  resource_exhausted: 'The host has no room for another sandbox.',
}

/** The HTTP status of the engine's answer; undefined when it gave none. */
export function statusOf(err: unknown): number | undefined {
  return (err as { statusCode?: number } | null)?.statusCode
}

/**
 * The engine's failure in our terms. The engine's own text goes into `cause` only: it names paths and containers of the host.
 * `message` is used where the kind does not say it all by itself.
 */
export function toAppError(err: unknown, message: string): AppError {
  if (err instanceof AppError) return err
  const kind = kindOf(err)
  return new AppError(kind, MESSAGE_OF_KIND[kind] ?? message, { cause: err })
}

/** Runs one question to the engine. Every failure is an `AppError`; `message` as for `toAppError`. */
export async function engineCall<T>(message: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (err) {
    throw toAppError(err, message)
  }
}

/** Runs a question for which one status of the answer is as good as success: `undefined` then. */
export async function unlessStatus<T>(status: number, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call()
  } catch (err) {
    if (statusOf(err) === status) return undefined
    throw err
  }
}

function kindOf(err: unknown): ErrorKind {
  const status = statusOf(err)
  const text = err instanceof Error ? err.message : String(err)
  if (NO_SPACE.test(text)) return 'insufficient_storage'
  // No status: the question never got an answer (no socket, refused, reset, no permission).
  if (status === undefined) return isConnectionError(err) ? 'unavailable' : 'internal'
  if (NO_ROOM.test(text)) return 'resource_exhausted'
  return KIND_OF_STATUS[status] ?? 'internal'
}

/** An absent socket is an ENOENT of `connect`; the same code of another call is a file of ours. */
function isConnectionError(err: unknown): boolean {
  const { code, syscall } = (err ?? {}) as { code?: string; syscall?: string }
  return syscall === 'connect' || (code !== undefined && CONNECTION_CODES.has(code))
}
