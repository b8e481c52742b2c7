import type { ErrorKind } from './kinds.ts'

const STATUS: Record<ErrorKind, number> = {
  invalid_argument: 400,
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  gone: 410,
  already_exists: 409,
  conflict: 409,
  unprocessable: 422,
  failed_precondition: 400,
  resource_exhausted: 429,
  canceled: 499,
  unknown: 500,
  internal: 500,
  unimplemented: 501,
  unavailable: 503,
  bad_gateway: 502,
  deadline_exceeded: 504,
  insufficient_storage: 507,
}

/** The HTTP status of a kind, for every REST surface. The JSON body's `code` is the same number (control-plane.md 1.4). */
export function httpStatus(kind: ErrorKind): number {
  return STATUS[kind]
}
