import { Code, ConnectError } from '@connectrpc/connect'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'

const EXIT_CODES: Partial<Record<Code, ExitCode>> = {
  [Code.NotFound]: EXIT.notFound,
  [Code.Unauthenticated]: EXIT.refused,
  [Code.PermissionDenied]: EXIT.refused,
  [Code.Unavailable]: EXIT.notReachable,
  [Code.DeadlineExceeded]: EXIT.timeout,
}

/** Turns a failure of a call to the daemon into a sentence; leaves other failures as they are. */
export function daemonFailure(error: unknown): unknown {
  if (!(error instanceof ConnectError)) return error
  const sentence = `${error.rawMessage.replace(/\.$/, '') || 'The sandbox closed the connection'}.`
  return new CliFailure(EXIT_CODES[error.code] ?? EXIT.failed, sentence, { cause: error })
}
