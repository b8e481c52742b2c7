import { AppError } from '@sandyard/kit/errors/app-error'
import type { ErrorKind } from '@sandyard/kit/errors/kinds'

const UNRECOGNIZED_IMAGE = /unrecognized image ID/

/** The engine's messages for a full host; the last one of runc means that it could not make a process. */
const NO_SPACE = /no space left on device|ENOSPC|disk quota exceeded/i
const NO_ROOM =
  /no available IPv4 addresses|address pools|cannot allocate memory|resource temporarily unavailable|too many open files|can't get final child's PID/i

const CONNECTION_CODES = new Set('ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN'.split(' '))

const KIND_OF_STATUS: Readonly<Record<number, ErrorKind>> = { 404: 'not_found', 409: 'conflict', 503: 'unavailable' }

const MESSAGE_OF_KIND: Partial<Record<ErrorKind, string>> = {
  unavailable: 'The Docker engine cannot be reached.',
  insufficient_storage: 'The disk of the Docker engine is full.',
  resource_exhausted: 'The host has no room for another sandbox.',
}

/** The HTTP status of the engine's answer; undefined when there was no answer. */
export function statusOf(err: unknown): number | undefined {
  const status = (err as { statusCode?: number } | null)?.statusCode
  // The engine's answer for an image that another request deletes at the same time.
  return status === 500 && UNRECOGNIZED_IMAGE.test((err as Error).message) ? 404 : status
}

/**
 * Converts a failure of the engine to an `AppError`. The engine's own text goes into `cause` only, because it names paths and containers
 * of the host. `message` is used for kinds without a message of their own.
 */
export function toAppError(err: unknown, message: string): AppError {
  if (err instanceof AppError) return err
  const kind = kindOf(err)
  return new AppError(kind, MESSAGE_OF_KIND[kind] ?? message, { cause: err })
}

/** Runs one request to the engine. Every failure is an `AppError`; `message` as for `toAppError`. */
export async function engineCall<T>(message: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (err) {
    throw toAppError(err, message)
  }
}

/** Runs a request for which one error status counts as success: then the result is undefined. */
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
  // No status: the request got no answer (no socket, refused, reset, no permission).
  if (status === undefined) return isConnectionError(err) ? 'unavailable' : 'internal'
  if (NO_ROOM.test(text)) return 'resource_exhausted'
  return KIND_OF_STATUS[status] ?? 'internal'
}

/** An absent socket is an ENOENT of `connect`; the same code of another call means one of our own files. */
function isConnectionError(err: unknown): boolean {
  const { code, syscall } = (err ?? {}) as { code?: string; syscall?: string }
  return syscall === 'connect' || (code !== undefined && CONNECTION_CODES.has(code))
}
