import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { statusOf, toAppError } from '../../engine/docker-errors.ts'

const NO_SHELL = /exec: "\/bin\/sh"|stat \/bin\/sh/
const SANDBOX_ENDED = /cannot join network of a non running container|No such container/i
const ENGINE_TROUBLE = /no space left|cannot allocate memory|resource temporarily unavailable|context canceled|OCI runtime|shim/i
/** Places on the host and ids of containers, which say nothing to the user. */
const INSIDE = /\/(?:var\/lib\/docker|var\/run\/docker|run\/containerd)[^\s"':]*|\b[0-9a-f]{64}\b/g

/** What the builder said of a Dockerfile that did not build. It is the user's file, so most of it is for the user. */
export function toBuildError(err: unknown): AppError {
  if (isAppError(err)) return err
  const said = (err instanceof Error ? err.message : String(err)).replace(/^\(HTTP code \d+\)[^-]*- /, '').trim()
  if (NO_SHELL.test(said)) return new AppError('failed_precondition', 'the image has no /bin/sh, which RUN needs', { cause: err })
  if (SANDBOX_ENDED.test(said)) return new AppError('unavailable', 'The sandbox of the build has ended.', { cause: err })
  const status = statusOf(err)
  const isOfTheFile = status === 400 || (status === undefined && !isConnectionTrouble(err) && !ENGINE_TROUBLE.test(said))
  if (!isOfTheFile) return toAppError(err, 'The Dockerfile could not be built.')
  return new AppError('failed_precondition', said.replaceAll(INSIDE, '...').slice(0, 4000), { cause: err })
}

function isConnectionTrouble(err: unknown): boolean {
  return (err as { code?: unknown } | null)?.code !== undefined
}
