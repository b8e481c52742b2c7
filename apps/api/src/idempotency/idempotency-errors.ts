import { AppError } from '@sandyard/kit/errors/app-error'

const RETRY_AFTER_SECONDS = 1

/** The idempotency key was used for another request (clients-python-2.63.md 3). */
export function requestMismatch(): AppError {
  return new AppError('unprocessable', 'The Idempotency-Key was used for another request.', { reason: 'idempotency_request_mismatch' })
}

/** Another request with the same idempotency key is in flight: its answer comes soon. */
export function inProgress(): AppError {
  return new AppError('conflict', 'A request with this Idempotency-Key is still under way.', {
    reason: 'idempotency_in_progress',
    headers: { 'should-retry': 'true', 'retry-after': String(RETRY_AFTER_SECONDS) },
  })
}
