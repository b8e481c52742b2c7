/**
 * The kinds of failure that any part of the server may report. Every wire surface maps a kind to its own
 * codes in one total function: HTTP in `http-status.ts`, Connect in `connect-code.ts`.
 */
export const ERROR_KINDS = [
  'invalid_argument',
  'unauthenticated',
  'permission_denied',
  'not_found',
  'gone',
  'already_exists',
  'conflict',
  'unprocessable',
  'failed_precondition',
  'resource_exhausted',
  'deadline_exceeded',
  'canceled',
  'unavailable',
  'bad_gateway',
  'insufficient_storage',
  'unimplemented',
  'unknown',
  'internal',
] as const

export type ErrorKind = (typeof ERROR_KINDS)[number]
