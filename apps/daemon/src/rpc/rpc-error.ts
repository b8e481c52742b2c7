import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { connectCode } from '@sandyard/kit/errors/connect-code'
import type { DaemonLog } from '../loggers.ts'

/** The wire's form of a failure (envd.md 6.4). */
export interface RpcError {
  readonly code: ReturnType<typeof connectCode>
  readonly message: string
}

/** The status of a unary failure (envd.md 6.4). */
export const RPC_STATUS: Readonly<Record<RpcError['code'], number>> = {
  canceled: 499,
  unknown: 500,
  invalid_argument: 400,
  deadline_exceeded: 504,
  not_found: 404,
  already_exists: 409,
  permission_denied: 403,
  resource_exhausted: 429,
  failed_precondition: 400,
  unimplemented: 501,
  internal: 500,
  unavailable: 503,
  unauthenticated: 401,
}

/** Unexpected failures are logged; clients do not see their text. */
export function toRpcError(error: unknown, log: DaemonLog): RpcError {
  if (isAppError(error)) return { code: connectCode(error.kind), message: error.message }
  log.error({ err: error }, 'rpc failed')
  return { code: 'internal', message: 'internal error' }
}

export function deadlineExceeded(): AppError {
  return new AppError('deadline_exceeded', 'context deadline exceeded')
}

/** Why streams end when the daemon does: a code that makes clients look whether the sandbox is still there. */
export function shuttingDown(): AppError {
  return new AppError('unavailable', 'the sandbox is shutting down')
}
