import { isAppError } from '@sandyard/kit/errors/app-error'
import { connectCode } from '@sandyard/kit/errors/connect-code'
import type { DaemonLog } from '../loggers.ts'

/** The wire's form of a failure (envd.md 6.4). Unexpected ones are logged; clients do not see their text. */
export function toJsonError(error: unknown, log: DaemonLog): { code: ReturnType<typeof connectCode>; message: string } {
  if (isAppError(error)) return { code: connectCode(error.kind), message: error.message }
  log.error({ err: error }, 'rpc failed')
  return { code: 'internal', message: 'internal error' }
}
