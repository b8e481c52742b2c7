import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { statusOf, toAppError } from '../../engine/docker-errors.ts'

const NO_SHELL = /exec: "\/bin\/sh"|stat \/bin\/sh/
const SANDBOX_ENDED = /cannot join network of a non running container|No such container/i
const ENGINE_FAILURE = /no space left|cannot allocate memory|resource temporarily unavailable|context canceled|OCI runtime|shim/i
/** Paths on the host and ids of containers, which mean nothing to the user. */
const HOST_DETAILS = /\/(?:var\/lib\/docker|var\/run\/docker|run\/containerd)[^\s"':]*|\b[0-9a-f]{64}\b/g

/** Converts an error of the builder. Most errors are caused by the user's file, so the user gets their text. */
export function toBuildError(err: unknown): AppError {
  if (isAppError(err)) return err
  const text = (err instanceof Error ? err.message : String(err)).replace(/^\(HTTP code \d+\)[^-]*- /, '').trim()
  if (NO_SHELL.test(text)) return new AppError('failed_precondition', 'the image has no /bin/sh, which RUN needs', { cause: err })
  if (SANDBOX_ENDED.test(text)) return new AppError('unavailable', 'The sandbox of the build has ended.', { cause: err })
  const status = statusOf(err)
  const isCausedByFile = status === 400 || (status === undefined && !isConnectionFailure(err) && !ENGINE_FAILURE.test(text))
  if (!isCausedByFile) return toAppError(err, 'The Dockerfile could not be built.')
  return new AppError('failed_precondition', text.replaceAll(HOST_DETAILS, '...').slice(0, 4000), { cause: err })
}

function isConnectionFailure(err: unknown): boolean {
  return (err as { code?: unknown } | null)?.code !== undefined
}
