import type { ErrorKind } from './kinds.ts'

export interface AppErrorOptions {
  readonly cause?: unknown
  /** Stable machine-readable cause; HTTP clients get it as `error_code` where control-plane.md defines one. */
  readonly reason?: string
  /** Headers of the answer, such as `Retry-After` or `Should-Retry`. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The one error that crosses module borders. Clients get `message` unchanged, so it never contains a secret,
 * a stack, or a text of the database or the engine; those belong in `cause`, which is only logged.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly kind: ErrorKind
  readonly reason: string | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(kind: ErrorKind, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.kind = kind
    this.reason = options.reason
    this.headers = options.headers ?? {}
  }
}

export function isAppError(error: unknown, kind?: ErrorKind): error is AppError {
  return error instanceof AppError && (kind === undefined || error.kind === kind)
}
