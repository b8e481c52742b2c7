import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import type { ErrorKind } from '@sandyard/kit/errors/kinds'
import { DaemonCallError } from '../../daemon/daemon-call-error.ts'
import { shorten } from '../../text/shorten.ts'

/** By the code of Connect, or the status of `/files`. */
const KINDS: Readonly<Record<string, ErrorKind>> = {
  invalid_argument: 'invalid_argument',
  400: 'invalid_argument',
  unauthenticated: 'invalid_argument',
  401: 'bad_gateway',
  not_found: 'not_found',
  404: 'not_found',
  already_exists: 'conflict',
  409: 'conflict',
  failed_precondition: 'conflict',
  permission_denied: 'conflict',
  resource_exhausted: 'bad_gateway',
  unavailable: 'unavailable',
  deadline_exceeded: 'deadline_exceeded',
  507: 'insufficient_storage',
}

const CONNECTION = new Set(['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EPIPE'])

/** The error of a call to a sandbox, for the page. The text of the daemon is that of an untrusted sandbox: it is cut, and shown as text. */
export function toRelayError(err: unknown): unknown {
  if (isAppError(err)) return err
  if (err instanceof DaemonCallError) {
    const kind = KINDS[err.code] ?? 'bad_gateway'
    return new AppError(kind, kind === 'unavailable' ? 'The sandbox does not answer' : shorten(err.detail), { cause: err })
  }
  const code = (err as { readonly code?: unknown } | null)?.code
  if (typeof code === 'string' && CONNECTION.has(code)) return new AppError('unavailable', 'The sandbox does not answer', { cause: err })
  return err
}
