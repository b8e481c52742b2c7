import type { ErrorKind } from './kinds.ts'

export interface AppErrorOptions {
  readonly cause?: unknown
  /** Stable machine-readable cause; reaches HTTP clients as `error_code` where control-plane.md names one. */
  readonly reason?: string
  /** Headers that belong to the answer, such as `Retry-After` or `Should-Retry`. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The one error that crosses module borders. `message` is shown to clients as it is, so it never carries a
 * secret, a stack or a text of the database or the engine; those belong into `cause`, which is only logged.
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
