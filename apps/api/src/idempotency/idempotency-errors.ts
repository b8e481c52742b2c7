import { AppError } from '@sandyard/kit/errors/app-error'

/** The idempotency key was used for another request (clients-python-2.63.md 3). */
export function requestMismatch(): AppError {
  return new AppError('unprocessable', 'The Idempotency-Key was used for another request.', { reason: 'idempotency_request_mismatch' })
}
