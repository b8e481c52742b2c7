import type { ErrorKind } from './kinds.ts'

const CODE = {
  invalid_argument: 'invalid_argument',
  unauthenticated: 'unauthenticated',
  permission_denied: 'permission_denied',
  not_found: 'not_found',
  gone: 'not_found',
  already_exists: 'already_exists',
  conflict: 'already_exists',
  unprocessable: 'invalid_argument',
  failed_precondition: 'failed_precondition',
  resource_exhausted: 'resource_exhausted',
  canceled: 'canceled',
  unknown: 'unknown',
  internal: 'internal',
  unimplemented: 'unimplemented',
  unavailable: 'unavailable',
  bad_gateway: 'unavailable',
  deadline_exceeded: 'deadline_exceeded',
  insufficient_storage: 'resource_exhausted',
} as const satisfies Record<ErrorKind, string>

/** The Connect code's wire name of a kind (envd.md 6.4). */
export function connectCode(kind: ErrorKind): (typeof CODE)[ErrorKind] {
  return CODE[kind]
}
