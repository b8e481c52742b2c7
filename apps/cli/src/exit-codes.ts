import type { ErrorKind } from '@sandyard/kit/errors/kinds'

/** The exit codes of every command; `exec` and `connect` end with the code of what they ran (dashboard-and-cli.md 6). */
export const EXIT = {
  done: 0,
  failed: 1,
  /** A wrong command line or a wrong setting. */
  usage: 2,
  notFound: 3,
  /** 401, 403, or a question that nobody could answer. */
  refused: 4,
  /** The server, the database or the engine. */
  notReachable: 5,
  timeout: 6,
  checksFailed: 7,
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

const BY_KIND: Partial<Record<ErrorKind, ExitCode>> = {
  invalid_argument: EXIT.usage,
  not_found: EXIT.notFound,
  unauthenticated: EXIT.refused,
  permission_denied: EXIT.refused,
  unavailable: EXIT.notReachable,
  deadline_exceeded: EXIT.timeout,
  canceled: EXIT.interrupted,
}

export function exitCodeOf(kind: ErrorKind): ExitCode {
  return BY_KIND[kind] ?? EXIT.failed
}
